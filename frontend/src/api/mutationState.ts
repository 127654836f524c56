/** Mutation meta of a form that shows its errors itself, so no notification appears. */
export const OWN_ERRORS = { ownErrors: true };

/** Return whether a mutation was sent. After success it stays true, while the code of the next page loads. */
export const isSubmitted = ({ isPending, isSuccess }: { isPending: boolean; isSuccess: boolean }) =>
  isPending || isSuccess;
