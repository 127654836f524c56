import { type PointerEvent, useRef } from "react";
import { NARROWEST } from "./columnSpecs";
import classes from "./runs.module.css";

const STEP = 16;

interface ResizeHandleProps {
  title: string;
  width: number;
  /** While it is dragged; null when it was let go without a new width. */
  onDrag: (width: number | null) => void;
  onResize: (width: number) => void;
  onReset: () => void;
}

/** The edge of a column's head: drag it, or move it with the arrow keys; a double click takes the usual width. */
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
      tabIndex={0}
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
        if (event.key === "ArrowLeft") onResize(width - STEP);
        if (event.key === "ArrowRight") onResize(width + STEP);
      }}
    />
  );
}
