import { Table } from "@mantine/core";
import { type ReactNode, useRef } from "react";
import { useHiddenSides } from "./useHiddenSides";
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
