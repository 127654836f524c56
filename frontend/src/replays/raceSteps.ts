/** Replays of several runs at the same training step. */

import { MOST_PANELS } from "./ensemble";
import type { PlayableReplay } from "./places";

/** URL parameters: the other runs, and the step. The default step is the last that all runs have reached. */
export const AGAINST = "against";
export const AT = "at";

/** Return the other runs in the URL of a run's page. */
export function othersOf(search: URLSearchParams, run: number): number[] {
  const named = (search.get(AGAINST) ?? "").split(",").filter((id) => /^[1-9]\d{0,15}$/.test(id));
  const others = [...new Set(named.map(Number))].filter((id) => id !== run);
  return others.slice(0, MOST_PANELS - 1);
}

/** Return the URL parameters for a comparison with other runs. */
export function against(search: URLSearchParams, others: readonly number[]): URLSearchParams {
  const params = new URLSearchParams(search);
  params.set(AGAINST, others.join(","));
  return params;
}

export function stepOf(search: URLSearchParams): number | null {
  const written = search.get(AT);
  return written !== null && /^\d{1,15}$/.test(written) ? Number(written) : null;
}

/** Return the newest replay at or before a step, or the first replay if there is none. */
export function replayAt(inOrder: readonly PlayableReplay[], step: number): PlayableReplay | undefined {
  return inOrder.findLast((replay) => replay.step <= step) ?? inOrder[0];
}

/** Return the sorted steps at which any run has a replay. */
export function stopsOf(all: readonly (readonly PlayableReplay[])[]): number[] {
  return [...new Set(all.flatMap((replays) => replays.map(({ step }) => step)))].sort((a, b) => a - b);
}

/** Return the last step that every run with replays has reached. */
export function lastOfAll(all: readonly (readonly PlayableReplay[])[]): number {
  const lasts = all.flatMap((replays) => replays.at(-1)?.step ?? []);
  return lasts.length > 0 ? Math.min(...lasts) : 0;
}
