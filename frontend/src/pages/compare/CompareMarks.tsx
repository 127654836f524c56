import { useQuery } from "@tanstack/react-query";
import { comparedMarksQuery } from "@/api/comparisons";
import type { ComparedRun } from "@/api/types";
import type { XAxis } from "@/charts/curveView";
import { MarkStrip } from "@/charts/marks/MarkStrip";
import type { PlotArea } from "@/charts/plotly";

interface CompareMarksProps {
  runs: readonly number[];
  known: readonly ComparedRun[];
  axis: XAxis;
  area: PlotArea;
}

/** Marks of forks, resumed attempts and changed settings, each with the name of its run. */
export function CompareMarks({ runs, known, axis, area }: CompareMarksProps) {
  const { data = [] } = useQuery(comparedMarksQuery(runs));
  const marks = data.flatMap(({ run_id, marks }) => {
    const name = known.find(({ id }) => id === run_id)?.label ?? `Run ${run_id}`;
    return marks.map((mark) => ({
      ...mark,
      detail: [name, mark.detail].filter(Boolean).join(": "),
      run_id: mark.run_id ?? run_id,
    }));
  });
  return <MarkStrip label="Marks of the runs" marks={marks} axis={axis} area={area} />;
}
