import type { Answer, Asked } from "./server";

interface Skipped {
  id: number;
  reason: string;
}

/** Return the ids of the runs in a request. */
export const idsOf = (body: unknown) => (body as { ids: number[] }).ids;

/** Responses of a server that applies actions on runs at once. `skip` returns those that it skips. */
export function bulkServer(skip: (ids: number[]) => Skipped[] = () => []): Record<string, Answer> {
  let handled: { done: number; skipped: Skipped[] } = { done: 0, skipped: [] };
  return {
    "POST /bulk-actions": ({ body }: Asked) => {
      const skipped = skip(idsOf(body));
      handled = { done: idsOf(body).length - skipped.length, skipped };
      return { id: 1 };
    },
    "GET /bulk-actions/1": () => ({
      id: 1,
      state: "done",
      message: null,
      done: handled.done,
      skipped: handled.skipped.length,
    }),
    "GET /bulk-actions/1/skipped": () => ({ items: handled.skipped, total: handled.skipped.length }),
  };
}
