import { type PointerEvent, useRef } from "react";

interface DragWidth {
  width: number;
  minimum: number;
  /** 1 if the resized element is on the left of the edge, -1 if it is on the right. */
  direction: 1 | -1;
  /** Called with the width while the edge is dragged, then with null. */
  onDrag: (width: number | null) => void;
  onResize: (width: number) => void;
}

/** Return the pointer handlers of an edge that is dragged to resize the element beside it. */
export function useDragWidth({ width, minimum, direction, onDrag, onResize }: DragWidth) {
  const drag = useRef<{ startX: number; width: number } | null>(null);
  const widthAt = (event: PointerEvent) =>
    drag.current
      ? Math.max(minimum, drag.current.width + direction * (event.clientX - drag.current.startX))
      : width;
  return {
    onPointerDown(event: PointerEvent) {
      event.currentTarget.setPointerCapture(event.pointerId);
      drag.current = { startX: event.clientX, width };
    },
    onPointerMove(event: PointerEvent) {
      if (drag.current) onDrag(widthAt(event));
    },
    onPointerUp(event: PointerEvent) {
      const next = widthAt(event);
      onDrag(null);
      if (drag.current && next !== drag.current.width) onResize(next);
      drag.current = null;
    },
    onPointerCancel() {
      onDrag(null);
      drag.current = null;
    },
  };
}
