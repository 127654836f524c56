import { evaluationsFigureQuery, fetchEvaluations } from "@/api/evaluations";
import type { Run } from "@/api/types";
import { figureRequest } from "@/charts/curveView";
import { FigureFrame } from "@/charts/FigureFrame";
import { useCurveView, useZoom } from "@/charts/useCurveView";
import { formatActing } from "./words";

const MAX_POINTS = 400;
const HEADER = [
  "run",
  "evaluation",
  "step",
  "frames",
  "protocol",
  "acting",
  "seed",
  "episodes",
  "mean",
  "median",
  "standard_error",
  "low",
  "high",
  "human_normalized",
];

/** Chart of evaluation scores by step, over the training return. */
export function EvaluationsChart({ run }: { run: Run }) {
  const [view] = useCurveView();
  const [zoom, setZoom] = useZoom(false);
  const { x, smoothing, buckets, from, to } = figureRequest({ ...view, x: "step" }, zoom, MAX_POINTS);
  const points = async () => {
    const { items } = await fetchEvaluations(run.id);
    const done = items.filter(({ state }) => state === "done");
    const rows = done.map((evaluation) => [
      run.id,
      evaluation.id,
      evaluation.step,
      evaluation.frames,
      evaluation.protocol,
      formatActing(evaluation.acting),
      evaluation.seed,
      evaluation.episodes_total,
      evaluation.mean,
      evaluation.median,
      evaluation.standard_error,
      evaluation.interval?.[0],
      evaluation.interval?.[1],
      evaluation.human_normalized,
    ]);
    return { header: HEADER, rows };
  };
  return (
    <FigureFrame
      title="Evaluations, with 95 % intervals"
      label="Evaluation scores by step, over the training return."
      query={evaluationsFigureQuery(run.id, { x, smoothing, buckets, from, to })}
      zoom={zoom}
      onZoom={setZoom}
      revision="step"
      legend
      height={300}
      empty="No scores yet. They appear here when an evaluation is done."
      file={`evaluations-run-${run.id}`}
      points={points}
    />
  );
}
