import { useState } from "react";
import { scoresFigureQuery } from "@/api/evaluations";
import type { EvaluationWithEpisodes } from "@/api/types";
import type { Zoom } from "@/charts/curveView";
import { FigureFrame } from "@/charts/FigureFrame";
import { plural } from "@/ui/format";
import { isUnderWay } from "./words";

/** How many episodes came to which score. */
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
      title={`Scores of ${played}${isUnderWay(evaluation) ? " so far" : ""}`}
      label={`How many of ${played} came to which score.`}
      query={scoresFigureQuery(run_id, id)}
      zoom={zoom}
      onZoom={setZoom}
      revision="scores"
      legend={false}
      height={300}
      empty="No score is a number that can be drawn."
      file={`evaluation-${id}-scores`}
      points={points}
    />
  );
}
