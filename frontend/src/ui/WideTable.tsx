import { Table } from "@mantine/core";
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react";
import classes from "./WideTable.module.css";

interface WideTableProps {
  /** Name for screen readers. */
  label: string;
  className?: string | undefined;
  children: ReactNode;
}

/** Container of a table that may be wider than the page. It scrolls sideways; shadows mark hidden columns. */
export function WideTable({ label, className = "", children }: WideTableProps) {
  const frame = useRef<HTMLDivElement>(null);
  const hidden = useHiddenSides(frame);
  return (
    <Table.ScrollContainer
      ref={frame}
      type="native"
      minWidth={0}
      tabIndex={0}
      role="group"
      aria-label={label}
      className={`${classes.table} ${className}`}
      data-hidden-left={hidden.left || undefined}
      data-hidden-right={hidden.right || undefined}
      // Contain absolutely positioned, visually hidden text, which would widen the page.
      pos="relative"
    >
      {children}
    </Table.ScrollContainer>
  );
}

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
