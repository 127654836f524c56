import { evaluationsFigureQuery, fetchEvaluations } from "@/api/evaluations";
import type { Run } from "@/api/types";
import { figureRequest } from "@/charts/curveView";
import { FigureFrame } from "@/charts/FigureFrame";
import { useCurveView } from "@/charts/useCurveView";
import { useZoom } from "@/charts/useZoom";
import { actingName } from "./words";

const BUCKETS = 400;
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
  "human_normalised",
];

/** Scores over the steps of training, upon the return in training. */
export function EvaluationsChart({ run }: { run: Run }) {
  const [view] = useCurveView();
  const [zoom, setZoom] = useZoom("evaluations", false);
  const { x, smoothing, buckets, from, to } = figureRequest({ ...view, x: "step" }, zoom, BUCKETS);
  const points = async () => {
    const { items } = await fetchEvaluations(run.id);
    const done = items.filter(({ state }) => state === "done");
    const rows = done.map((one) => [
      run.id,
      one.id,
      one.step,
      one.frames,
      one.protocol,
      actingName(one.acting),
      one.seed,
      one.episodes_total,
      one.mean,
      one.median,
      one.standard_error,
      one.interval?.[0],
      one.interval?.[1],
      one.human_normalised,
    ]);
    return { header: HEADER, rows };
  };
  return (
    <FigureFrame
      title="Evaluations, with 95 % intervals"
      label="Scores of the evaluations by steps, upon the return in training."
      query={evaluationsFigureQuery(run.id, { x, smoothing, buckets, from, to })}
      zoom={zoom}
      onZoom={setZoom}
      revision="step"
      legend
      height={300}
      empty="Nothing to draw yet. Scores appear here as soon as an evaluation is done."
      file={`evaluations-run-${run.id}`}
      points={points}
    />
  );
}
