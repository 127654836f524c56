import { EmptyState } from "@/ui/EmptyState";
import { usePageTitle } from "@/ui/usePageTitle";
import { useSignInFailure } from "@/ui/useSignInFailure";

/** Page in the tab in which a person has signed in at their provider again. */
export default function SignedInAgainPage() {
  const failure = useSignInFailure();
  usePageTitle(failure ? "Sign-in failed" : "Signed in again");
  if (failure)
    return (
      <EmptyState title="You have not signed in again" alone>
        {failure} Close this tab to try again in the first one.
      </EmptyState>
    );
  return (
    <EmptyState title="You have signed in again" alone>
      Close this tab. Your action continues in the first tab.
    </EmptyState>
  );
}
