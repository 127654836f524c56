/** A race: replays of several runs at equal steps of training. */

import { MOST_PANELS } from "./ensemble";
import type { PlayableReplay } from "./places";

/** The parameters of the address: the other runs, and the step; without one, the last that all have reached. */
export const AGAINST = "against";
export const AT = "at";

/** The other runs of a race, as the address of one run's page names them. */
export function othersOf(search: URLSearchParams, run: number): number[] {
  const named = (search.get(AGAINST) ?? "").split(",").filter((id) => /^[1-9]\d{0,15}$/.test(id));
  const others = [...new Set(named.map(Number))].filter((id) => id !== run);
  return others.slice(0, MOST_PANELS - 1);
}

/** The address of a race with other runs. */
export function against(search: URLSearchParams, others: readonly number[]): URLSearchParams {
  const params = new URLSearchParams(search);
  params.set(AGAINST, others.join(","));
  return params;
}

export function stepOf(search: URLSearchParams): number | null {
  const written = search.get(AT);
  return written !== null && /^\d{1,15}$/.test(written) ? Number(written) : null;
}

/** The newest replay at or below a step of training; the first, where the run has none so early. */
export function replayAt(inOrder: readonly PlayableReplay[], step: number): PlayableReplay | undefined {
  return inOrder.findLast((replay) => replay.step <= step) ?? inOrder[0];
}

/** The steps at which any of the runs has a replay, in order. */
export function stopsOf(all: readonly (readonly PlayableReplay[])[]): number[] {
  return [...new Set(all.flatMap((replays) => replays.map(({ step }) => step)))].sort((a, b) => a - b);
}

/** The last step that every run with replays has reached. */
export function lastOfAll(all: readonly (readonly PlayableReplay[])[]): number {
  const lasts = all.flatMap((replays) => replays.at(-1)?.step ?? []);
  return lasts.length > 0 ? Math.min(...lasts) : 0;
}
