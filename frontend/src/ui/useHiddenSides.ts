import { type RefObject, useEffect, useState } from "react";

/** Return on which sides of a scrolling element content is hidden. */
export function useHiddenSides(frame: RefObject<HTMLElement | null>) {
  const [hidden, setHidden] = useState({ left: false, right: false });
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    function measure() {
      if (!element) return;
      const { scrollLeft, clientWidth, scrollWidth } = element;
      // Zoomed pages have fractions of pixels.
      const left = scrollLeft > 1;
      const right = scrollLeft + clientWidth < scrollWidth - 1;
      setHidden((now) => (now.left === left && now.right === right ? now : { left, right }));
    }
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    const table = element.querySelector("table");
    if (table) observer.observe(table);
    element.addEventListener("scroll", measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", measure);
    };
  }, [frame]);
  return hidden;
}
