import { type PointerEvent, useRef } from "react";
import { MIN_WIDTH, WIDTH_STEP } from "./columnSpecs";
import classes from "./runs.module.css";

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
  const drag = useRef<{ startX: number; width: number } | null>(null);
  const widthAt = (event: PointerEvent) =>
    drag.current ? Math.max(MIN_WIDTH, drag.current.width + event.clientX - drag.current.startX) : width;
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
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { startX: event.clientX, width };
      }}
      onPointerMove={(event) => {
        if (drag.current) onDrag(widthAt(event));
      }}
      onPointerUp={(event) => {
        const width = widthAt(event);
        onDrag(null);
        if (drag.current && width !== drag.current.width) onResize(width);
        drag.current = null;
      }}
      onPointerCancel={() => {
        onDrag(null);
        drag.current = null;
      }}
      onDoubleClick={onReset}
      onKeyDown={(event) => {
        if (event.key === "ArrowLeft") onResize(width - WIDTH_STEP);
        if (event.key === "ArrowRight") onResize(width + WIDTH_STEP);
      }}
    />
  );
}
