import type { Mark } from "@/api/types";
import type { XAxis } from "../curveView";
import type { PlotArea } from "../plotly";
import { MarkButton } from "./MarkButton";
import { clusters } from "./markPlaces";
import classes from "./marks.module.css";

interface MarkStripProps {
  label: string;
  marks: readonly Mark[];
  axis: XAxis;
  area: PlotArea;
  /** Absent if the runs cannot be forked here. */
  onFork?: (checkpoint: number) => void;
}

/** Marks along the top of a chart. */
export function MarkStrip({ label, marks, axis, area, onFork }: MarkStripProps) {
  const places = clusters(marks, axis, area);
  if (places.length === 0) return null;
  return (
    <div className={classes.strip} role="group" aria-label={label}>
      {places.map((cluster) => (
        <MarkButton key={cluster.marks.map(keyOf).join()} cluster={cluster} onFork={onFork} />
      ))}
    </div>
  );
}

const keyOf = (mark: Mark) => `${mark.kind} ${mark.step} ${mark.title} ${mark.detail}`;
