import { IconArrowsDiagonal } from "@tabler/icons-react";
import { type KeyboardEvent, type PointerEvent, type RefObject, useRef } from "react";
import type { BoardPanel } from "@/api/types";
import classes from "./board.module.css";
import { HEIGHT_STEP, withSize } from "./panels";

interface ResizeCornerProps {
  title: string;
  panel: BoardPanel;
  card: RefObject<HTMLElement | null>;
  /** Called with each size while it changes. */
  onResize: (panel: BoardPanel) => void;
  /** Called when the size is final. */
  onDone: () => void;
}

const STEPS: Record<string, [columns: number, height: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -HEIGHT_STEP],
  ArrowDown: [0, HEIGHT_STEP],
};

/** Corner of a panel. Drag it or press the arrow keys to resize the panel. */
export function ResizeCorner({ title, panel, card, onResize, onDone }: ResizeCornerProps) {
  const drag = useRef<{ x: number; y: number; panel: BoardPanel; columnWidth: number } | null>(null);

  function start(event: PointerEvent<HTMLButtonElement>) {
    event.currentTarget.setPointerCapture(event.pointerId);
    const width = card.current?.getBoundingClientRect().width ?? 1;
    drag.current = { x: event.clientX, y: event.clientY, panel, columnWidth: width / (panel.columns ?? 1) };
  }

  function move(event: PointerEvent) {
    if (!drag.current) return;
    const { x, y, panel: before, columnWidth } = drag.current;
    const columns = (before.columns ?? 1) + (event.clientX - x) / columnWidth;
    onResize(withSize(before, columns, (before.height ?? 0) + event.clientY - y));
  }

  function stop() {
    drag.current = null;
    onDone();
  }

  function step(event: KeyboardEvent) {
    const by = STEPS[event.key];
    if (!by) return;
    event.preventDefault();
    onResize(withSize(panel, (panel.columns ?? 1) + by[0], (panel.height ?? 0) + by[1]));
  }

  return (
    <button
      type="button"
      className={classes.corner}
      aria-label={`Resize ${title}: ${panel.columns} of 12 columns, ${panel.height} pixels high`}
      title="Drag, or press the arrow keys, to resize"
      onPointerDown={start}
      onPointerMove={move}
      onPointerUp={stop}
      onPointerCancel={stop}
      onKeyDown={step}
      onKeyUp={(event) => event.key in STEPS && onDone()}
    >
      <IconArrowsDiagonal size={16} aria-hidden />
    </button>
  );
}
