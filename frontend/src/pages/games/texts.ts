/** Short texts for scores, evaluations and sources. */

import type { MethodScore, RunScore, ScoreRow } from "@/api/types";
import { plural, short } from "@/ui/format";

export function actingText({ name, epsilon }: RunScore["acting"]): string {
  return epsilon === null ? name : `ε-greedy (${epsilon})`;
}

/** Describe an evaluation: "PAAC · 1.2 M steps · 30 episodes · sampled", with its start points. */
export function evaluationText({ run, step, episodes, acting, start_set }: RunScore): string {
  const begun = start_set === null ? [] : [`from ${start_set}`];
  const words = [run.method, short(step, "steps"), plural(episodes, "episode"), actingText(acting)];
  return [...words, ...begun].join(" · ");
}

/** Describe the runs in the mean of a method: "mean of 3 runs · 1.2 M to 5 M steps · 1 failed run left out". */
export function methodText({ runs, failed, steps: [fewest, most] }: MethodScore): string {
  const steps = fewest === most ? short(most, "steps") : `${short(fewest)} to ${short(most, "steps")}`;
  const words = [runs === 1 ? "1 run, so no interval" : `mean of ${plural(runs, "run")}`, steps];
  if (failed > 0) words.push(`${plural(failed, "failed run")} left out`);
  return words.join(" · ");
}

/** Describe the sources: "Gorila (Nair et al. 2015), table 4; also PAAC (Clemente et al. 2017), table 1". */
export function sourceText({ sources }: Pick<ScoreRow, "sources">): string {
  return sources.map(({ source, table }) => `${source}, ${table}`).join("; also ");
}
