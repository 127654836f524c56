import { SegmentedControl } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { calibrationsFigureQuery, type CriticMeasure } from "@/api/calibrations";
import { runsInFileName } from "@/api/runNumbers";
import { figureRequest } from "./curveView";
import { FigureFrame } from "./FigureFrame";
import { drawnRows } from "./points";
import { useCurveView, useZoom } from "./useCurveView";

const MAX_POINTS = 400;

const MEASURES: Record<CriticMeasure, { label: string; title: string; hint: string }> = {
  bias: {
    label: "Bias",
    title: "Bias of the critic",
    hint: "Mean of value − mean return of the futures, with its 95 % interval. Above 0: too high.",
  },
  rmse: {
    label: "RMSE",
    title: "RMSE of the critic",
    hint: "Root mean square of value − mean return of the futures. At least the size of the bias.",
  },
  correlation: {
    label: "Correlation",
    title: "Correlation of values and returns",
    hint: "Pearson's correlation of values and mean returns, with its 95 % interval",
  },
  skill: {
    label: "Skill",
    title: "Skill of the critic",
    hint: "1: values equal returns. 0: no better than always predicting the mean return. With its 95 % interval.",
  },
  regret: {
    label: "Regret",
    title: "Regret of the chosen action",
    hint: "95 % interval of the mean return lost against the best action",
  },
};
const ORDER: CriticMeasure[] = ["bias", "rmse", "correlation", "skill", "regret"];

interface MeasureChoiceProps {
  measure: CriticMeasure;
  onMeasure: (measure: CriticMeasure) => void;
}

/** Choice of the measure that a chart of critics shows. */
export function MeasureChoice({ measure, onMeasure }: MeasureChoiceProps) {
  return (
    <SegmentedControl
      aria-label="Measure of the critic"
      size="xs"
      w="fit-content"
      data={ORDER.map((value) => ({ value, label: MEASURES[value].label }))}
      value={measure}
      onChange={onMeasure}
    />
  );
}

interface CriticChartProps {
  runs: readonly number[];
  measure: CriticMeasure;
}

/** Chart of a measure of the critics of some runs by step. */
export function CriticChart({ runs, measure }: CriticChartProps) {
  const client = useQueryClient();
  const [view] = useCurveView();
  const [zoom, setZoom] = useZoom(false);
  const { x, buckets, from, to } = figureRequest({ ...view, x: "step" }, zoom, MAX_POINTS);
  const query = calibrationsFigureQuery(runs, { measure, x, buckets, from, to });
  const points = async () => ({
    header: ["run", "step", measure],
    rows: drawnRows(await client.ensureQueryData(query)).map((row) => row.slice(0, 3)),
  });
  const { title, hint } = MEASURES[measure];
  return (
    <FigureFrame
      title={title}
      hint={hint}
      label={`${title} by step.`}
      query={query}
      zoom={zoom}
      onZoom={setZoom}
      revision="step"
      legend={runs.length > 1}
      height={300}
      empty="Nothing to show yet. Points appear when a calibration is done."
      file={`critic-${measure}-${runsInFileName(runs)}`}
      points={points}
    />
  );
}
