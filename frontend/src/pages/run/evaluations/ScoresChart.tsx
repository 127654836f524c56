import { useState } from "react";
import { scoresFigureQuery } from "@/api/evaluations";
import { isUnfinished } from "@/api/jobs";
import type { EvaluationWithEpisodes } from "@/api/types";
import type { Zoom } from "@/charts/curveView";
import { FigureFrame } from "@/charts/FigureFrame";
import { plural } from "@/ui/format";

/** Histogram of the episode scores. */
export function ScoresChart({ evaluation }: { evaluation: EvaluationWithEpisodes }) {
  const [zoom, setZoom] = useState<Zoom | null>(null);
  const { id, run_id, episodes } = evaluation;
  const played = plural(episodes.length, "episode");
  const points = () =>
    Promise.resolve({
      header: ["evaluation", "episode", "score"],
      rows: episodes.map(({ number, score }) => [id, number, score]),
    });
  return (
    <FigureFrame
      title={`Scores of ${played}${isUnfinished(evaluation) ? " so far" : ""}`}
      label={`Histogram of the scores of ${played}.`}
      query={scoresFigureQuery(run_id, id)}
      zoom={zoom}
      onZoom={setZoom}
      revision="scores"
      legend={false}
      height={300}
      empty="No finite scores to show."
      file={`evaluation-${id}-scores`}
      points={points}
    />
  );
}
