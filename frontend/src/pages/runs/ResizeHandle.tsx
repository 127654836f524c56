import { MIN_WIDTH, WIDTH_STEP } from "./columnSpecs";
import classes from "./runs.module.css";
import { useDragWidth } from "./useDragWidth";

interface ResizeHandleProps {
  title: string;
  width: number;
  /** Called with the width while the edge is dragged, then with null. */
  onDrag: (width: number | null) => void;
  onResize: (width: number) => void;
  onReset: () => void;
}

/** Edge of a column header. Drag it or use the arrow keys to resize; double-click to reset. */
export function ResizeHandle({ title, width, onDrag, onResize, onReset }: ResizeHandleProps) {
  const handlers = useDragWidth({ width, minimum: MIN_WIDTH, direction: 1, onDrag, onResize });
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of ${title}`}
      aria-valuenow={width}
      // Keyboard users have the column's menu.
      tabIndex={-1}
      className={classes.resize}
      draggable
      // Resizing must not start to drag the column.
      onDragStart={(event) => {
        event.preventDefault();
        event.stopPropagation();
      }}
      {...handlers}
      onDoubleClick={onReset}
      onKeyDown={(event) => {
        if (event.key === "ArrowLeft") onResize(width - WIDTH_STEP);
        if (event.key === "ArrowRight") onResize(width + WIDTH_STEP);
      }}
    />
  );
}
