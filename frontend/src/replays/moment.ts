/** Moments of replays in the address: which replays, and at what time. */

export const MOMENT = "t";

/** The time that an address names; null where it names none that can be. */
export function momentOf(search: URLSearchParams): number | null {
  const written = search.get(MOMENT);
  if (written === null || !/^\d+(\.\d+)?$/.test(written)) return null;
  return Number(written);
}

/** So many digits that the picture is the same again. */
export const written = (seconds: number): string => String(Number(seconds.toFixed(3)));

/** The address parameters of these replays at this time. */
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
