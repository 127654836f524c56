import type { Figure } from "./types";

type Trace = Figure["data"][number];

/** Return the complete figure after a response, which may hold only the new points of each line. */
export function mergeFigure(cached: Figure | undefined, update: Figure): Figure {
  if (update.complete || !cached) return update;
  const traces = new Map(cached.data.map((trace) => [trace["uid"], trace]));
  return {
    ...update,
    complete: true,
    data: update.data.map((trace) => mergeTrace(traces.get(trace["uid"]), trace)),
  };
}

/** Keep the first `keep` entries of each cached list and append the update's entries. */
function mergeTrace(cached: Trace = {}, { keep, ...update }: Trace): Trace {
  const merged: Trace = { ...cached };
  for (const [name, value] of Object.entries(update)) {
    const before = cached[name];
    const lists = Array.isArray(value) && Array.isArray(before);
    merged[name] = lists ? [...(before as unknown[]).slice(0, Number(keep)), ...(value as unknown[])] : value;
  }
  return merged;
}
