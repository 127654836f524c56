/** Moments of replays in the URL: the replays and the time. */

export const MOMENT = "t";

/** Search parameter that opens the panel for futures. */
export const WHAT_IF = "what-if";

/** Search parameter that opens the review. */
export const REVIEW = "review";

/** Return the time in the URL, or null if there is no valid one. */
export function momentOf(search: URLSearchParams): number | null {
  const written = search.get(MOMENT);
  if (written === null || !/^\d+(\.\d+)?$/.test(written)) return null;
  return Number(written);
}

/** Decimal digits that identify a picture exactly. */
export const written = (seconds: number): string => String(Number(seconds.toFixed(3)));

/** Return the URL parameters of these replays at this time. */
export function withMoment(
  search: URLSearchParams,
  replays: readonly number[],
  seconds: number,
): URLSearchParams {
  const params = new URLSearchParams(search);
  params.set("replays", replays.join(","));
  params.set(MOMENT, written(seconds));
  return params;
}

export function without(search: URLSearchParams, name: string): URLSearchParams {
  const params = new URLSearchParams(search);
  params.delete(name);
  return params;
}
