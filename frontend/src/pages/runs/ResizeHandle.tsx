import { type PointerEvent, useRef } from "react";
import { NARROWEST, WIDTH_STEP } from "./columnSpecs";
import classes from "./runs.module.css";

interface ResizeHandleProps {
  title: string;
  width: number;
  /** While it is dragged; null when it was let go without a new width. */
  onDrag: (width: number | null) => void;
  onResize: (width: number) => void;
  onReset: () => void;
}

/** The edge of a column's head: drag it, or move it with the arrow keys; a double click resets the width. */
export function ResizeHandle({ title, width, onDrag, onResize, onReset }: ResizeHandleProps) {
  const grip = useRef<{ at: number; width: number } | null>(null);
  const widthAt = (event: PointerEvent) =>
    grip.current ? Math.max(NARROWEST, grip.current.width + event.clientX - grip.current.at) : width;
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of ${title}`}
      aria-valuenow={width}
      // The column's menu has the same for the keyboard.
      tabIndex={-1}
      className={classes.resize}
      draggable
      // The column itself must not start to move.
      onDragStart={(event) => {
        event.preventDefault();
        event.stopPropagation();
      }}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        grip.current = { at: event.clientX, width };
      }}
      onPointerMove={(event) => {
        if (grip.current) onDrag(widthAt(event));
      }}
      onPointerUp={(event) => {
        const width = widthAt(event);
        onDrag(null);
        if (grip.current && width !== grip.current.width) onResize(width);
        grip.current = null;
      }}
      onPointerCancel={() => {
        onDrag(null);
        grip.current = null;
      }}
      onDoubleClick={onReset}
      onKeyDown={(event) => {
        if (event.key === "ArrowLeft") onResize(width - WIDTH_STEP);
        if (event.key === "ArrowRight") onResize(width + WIDTH_STEP);
      }}
    />
  );
}
