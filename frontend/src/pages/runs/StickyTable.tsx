import { type CSSProperties, type ReactNode, type Ref, useRef } from "react";
import { useHiddenSides } from "@/ui/useHiddenSides";
import wideClasses from "@/ui/WideTable.module.css";
import classes from "./runs.module.css";

interface StickyTableProps {
  /** Name for screen readers. */
  label: string;
  /** Number of rows with the header, if only some are rendered. */
  rowCount?: number;
  /** Columns that are narrower scroll sideways. */
  minWidth?: number;
  className?: string;
  density?: string;
  /** Columns of both tables. */
  columns?: ReactNode;
  /** Widths of the columns as a grid, so that the browser lays out each row alone. */
  grid?: string;
  /** The row of the header. */
  head: ReactNode;
  /** The rows, whose elements have explicit roles. */
  children: ReactNode;
  frameRef?: Ref<HTMLDivElement>;
  scrolls?: boolean;
}

/**
 * Table whose header stays below the page's bar while its rows scroll, also if they scroll sideways. Header and rows are
 * two tables, because a header cannot leave an element that scrolls. Screen readers see one.
 */
export function StickyTable({
  label,
  rowCount,
  minWidth,
  className = "",
  density,
  columns,
  grid,
  head,
  children,
  frameRef,
  scrolls,
}: StickyTableProps) {
  const headFrame = useRef<HTMLDivElement>(null);
  const bodyFrame = useRef<HTMLDivElement>(null);
  const hidden = useHiddenSides(bodyFrame);
  const follow = (to: HTMLElement | null, from: HTMLElement) => {
    if (to && to.scrollLeft !== from.scrollLeft) to.scrollLeft = from.scrollLeft;
  };
  const table = {
    role: "presentation",
    className: `${classes.table} ${className}`,
    "data-density": density,
    "data-grid": grid === undefined ? undefined : true,
    style: { minWidth, "--columns": grid } as CSSProperties,
  };
  return (
    <div
      ref={frameRef}
      role="table"
      aria-label={label}
      aria-rowcount={rowCount}
      className={`${wideClasses.table} ${classes.tableFrame}`}
      data-scrolls={scrolls || undefined}
      data-hidden-left={hidden.left || undefined}
      data-hidden-right={hidden.right || undefined}
    >
      <div
        ref={headFrame}
        className={classes.headFrame}
        // The focus may move to a column that was hidden.
        onScroll={({ currentTarget }) => follow(bodyFrame.current, currentTarget)}
      >
        <table {...table}>
          {columns}
          <thead role="rowgroup">{head}</thead>
        </table>
      </div>
      <div
        ref={bodyFrame}
        className={classes.bodyFrame}
        onScroll={({ currentTarget }) => follow(headFrame.current, currentTarget)}
      >
        <table {...table}>
          {columns}
          {children}
        </table>
      </div>
    </div>
  );
}
