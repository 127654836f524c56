import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { checkpointsQuery } from "@/api/checkpoints";
import { marksQuery } from "@/api/marks";
import type { Run } from "@/api/types";
import type { XAxis } from "@/charts/curveView";
import { marksOf } from "@/charts/marks/markPlaces";
import { MarkStrip } from "@/charts/marks/MarkStrip";
import type { PlotArea } from "@/charts/plotly";
import { ForkModal } from "../ForkModal";
import { useHiddenMarks } from "./useHiddenMarks";

interface CurveMarksProps {
  run: Run;
  metrics: readonly string[];
  /** True for the chart that shows all marks. */
  isMain: boolean;
  axis: XAxis;
  area: PlotArea;
}

/** Marks along the top of a curve: checkpoints, forks, resumed attempts, changes, warnings and anomalies. */
export function CurveMarks({ run, metrics, isMain, axis, area }: CurveMarksProps) {
  const { data: marks = [] } = useQuery(marksQuery(run.id));
  const [hidden] = useHiddenMarks();
  const [forked, setForked] = useState<number | null>(null);
  const shown = marksOf(marks, metrics, { isMain, hidden });
  return (
    <>
      <MarkStrip
        label="Marks on the curve"
        marks={shown}
        axis={axis}
        area={area}
        onFork={run.unsupported_because === null ? setForked : undefined}
      />
      {forked !== null && <ForkFrom run={run} checkpoint={forked} onClose={() => setForked(null)} />}
    </>
  );
}

function ForkFrom({ run, checkpoint, onClose }: { run: Run; checkpoint: number; onClose: () => void }) {
  const { data } = useQuery(checkpointsQuery(run.id));
  const found = data?.find(({ id }) => id === checkpoint);
  return found ? <ForkModal run={run} checkpoint={found} onClose={onClose} /> : null;
}
