import { Button } from "@mantine/core";
import { IconChartLine } from "@tabler/icons-react";
import { type CSSProperties, type ReactNode, useState } from "react";
import { lazyPart } from "@/ui/lazyPart";
import classes from "./ChartPanel.module.css";
import type { Charts } from "./useCharts";
import { useDragWidth } from "./useDragWidth";
import type { ChartPanelProps } from "./PanelCharts";

const MIN_WIDTH = 320;
const WIDTH_STEP = 32;

const PanelCharts = lazyPart(() => import("./PanelCharts").then((module) => module.PanelCharts));

/** The listed runs with charts beside them, if these are open. */
export function WithCharts({ children, ...props }: ChartPanelProps & { children: ReactNode }) {
  const { charts } = props;
  const [dragged, setDragged] = useState<number | null>(null);
  const width = dragged ?? charts.width;
  return (
    <div className={classes.split} style={{ "--charts-width": `${width}px` } as CSSProperties}>
      <div className={classes.runs}>{children}</div>
      {charts.isOpen && (
        <aside className={classes.panel} aria-label="Charts">
          <PanelEdge width={width} onDrag={setDragged} onResize={charts.setWidth} />
          <PanelCharts {...props} />
        </aside>
      )}
    </div>
  );
}

/** Button that opens and closes the charts. */
export function ChartsButton({ charts }: { charts: Charts }) {
  return (
    <Button
      variant={charts.isOpen ? "light" : "default"}
      size="xs"
      leftSection={<IconChartLine size={16} />}
      aria-pressed={charts.isOpen}
      onClick={() => charts.setOpen(!charts.isOpen)}
    >
      Charts
    </Button>
  );
}

interface PanelEdgeProps {
  width: number;
  onDrag: (width: number | null) => void;
  onResize: (width: number) => void;
}

/** Left edge of the charts. Drag it or use the arrow keys to resize. */
function PanelEdge({ width, onDrag, onResize }: PanelEdgeProps) {
  const handlers = useDragWidth({ width, minimum: MIN_WIDTH, direction: -1, onDrag, onResize });
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label="Width of the charts"
      aria-valuenow={Math.round(width)}
      aria-valuemin={MIN_WIDTH}
      tabIndex={0}
      className={classes.edge}
      {...handlers}
      onKeyDown={(event) => {
        if (event.key === "ArrowLeft") onResize(width + WIDTH_STEP);
        if (event.key === "ArrowRight") onResize(Math.max(MIN_WIDTH, width - WIDTH_STEP));
      }}
    />
  );
}
