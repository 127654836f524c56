/** Short texts for scores, evaluations and sources. */

import type { RunScore, ScoreRow } from "@/api/types";
import { plural, score, short } from "@/ui/format";

/** Return an interval as text: "12.1 to 14.3". */
export function intervalText([low, high]: NonNullable<RunScore["interval"]>): string {
  return `${score(low)} to ${score(high)}`;
}

export function actingText({ name, epsilon }: RunScore["acting"]): string {
  return epsilon === null ? name : `ε-greedy (${epsilon})`;
}

/** Describe an evaluation: "PAAC · 1.2 M steps · 30 episodes · sampled", with its start points. */
export function evaluationText({ run, step, episodes, acting, start_set }: RunScore): string {
  const begun = start_set === null ? [] : [`from ${start_set}`];
  const words = [run.method, short(step, "steps"), plural(episodes, "episode"), actingText(acting)];
  return [...words, ...begun].join(" · ");
}

/** Describe the sources: "Gorila (Nair et al. 2015), table 4; also PAAC (Clemente et al. 2017), table 1". */
export function sourceText({ sources }: Pick<ScoreRow, "sources">): string {
  return sources.map(({ source, table }) => `${source}, ${table}`).join("; also ");
}
