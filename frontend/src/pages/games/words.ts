/** Scores, evaluations and sources in few words. */

import type { RunScore, ScoreRow } from "@/api/types";
import { plural, score, short } from "@/ui/format";

/** "12.1 to 14.3". */
export function intervalWords([low, high]: NonNullable<RunScore["interval"]>): string {
  return `${score(low)} to ${score(high)}`;
}

export function actingWords({ name, epsilon }: RunScore["acting"]): string {
  return epsilon === null ? name : `ε-greedy (${epsilon})`;
}

/** "PAAC · 1.2 M steps · 30 episodes · sampled", and from which start points. */
export function evaluationWords({ run, step, episodes, acting, start_set }: RunScore): string {
  const begun = start_set === null ? [] : [`from ${start_set}`];
  const words = [run.method, short(step, "steps"), plural(episodes, "episode"), actingWords(acting)];
  return [...words, ...begun].join(" · ");
}

/** "Gorila (Nair et al. 2015), table 4; also PAAC (Clemente et al. 2017), table 1". */
export function sourceWords({ sources }: Pick<ScoreRow, "sources">): string {
  return sources.map(({ source, table }) => `${source}, ${table}`).join("; also ");
}
