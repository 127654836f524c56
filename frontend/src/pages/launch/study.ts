/** What would be several runs becomes a study. */

import { MOST_RUNS } from "@/api/comparisons";
import type { RunConfig, StudySpecification } from "@/api/types";
import type { Series } from "@/config-form/series";

interface Asked {
  name: string;
  question: string;
  config: RunConfig;
  series: Record<string, Series>;
}

/** The study of a configuration in which some fields have several values. */
export function studyOf({ name, question, config, series }: Asked): StudySpecification {
  const { seed: seeds, ...others } = series;
  const drawn = Object.values(others).flatMap((each) => (each.kind === "values" ? [] : [each.count]));
  return {
    name,
    question,
    config,
    axes: Object.entries(others).map(([field, each]) => axisOf(field, each)),
    seeds: seeds?.kind === "values" ? seeds.values : [Number(config["seed"] ?? 1)],
    sampler: drawn.length > 0 ? "random" : "grid",
    points: drawn.length > 0 ? Math.max(...drawn) : null,
    // What a comparison can show is queued at once.
    at_once: MOST_RUNS,
  };
}

function axisOf(field: string, series: Series) {
  if (series.kind === "values") return { field, values: series.values };
  return series.kind === "log" ? { field, log_uniform: series.bounds } : { field, uniform: series.bounds };
}
