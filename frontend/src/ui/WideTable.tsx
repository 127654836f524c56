import { Table } from "@mantine/core";
import type { ReactNode } from "react";

interface WideTableProps {
  /** What a screen reader says when the keyboard comes to it. */
  label: string;
  className?: string | undefined;
  children: ReactNode;
}

/** Holds a table that may be wider than the page; it scrolls sideways, from the keyboard too. */
export function WideTable({ label, className, children }: WideTableProps) {
  return (
    <Table.ScrollContainer
      type="native"
      minWidth={0}
      tabIndex={0}
      role="group"
      aria-label={label}
      className={className}
      // What is hidden in a cell is placed by the nearest such box, and would widen the page.
      pos="relative"
    >
      {children}
    </Table.ScrollContainer>
  );
}
