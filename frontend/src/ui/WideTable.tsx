import { Table } from "@mantine/core";
import type { ReactNode } from "react";

interface WideTableProps {
  /** Name for screen readers. */
  label: string;
  className?: string | undefined;
  children: ReactNode;
}

/** Container of a table that may be wider than the page. It scrolls sideways, with the keyboard too. */
export function WideTable({ label, className, children }: WideTableProps) {
  return (
    <Table.ScrollContainer
      type="native"
      minWidth={0}
      tabIndex={0}
      role="group"
      aria-label={label}
      className={className}
      // Hidden text in a cell is positioned by its nearest container and would widen the page.
      pos="relative"
    >
      {children}
    </Table.ScrollContainer>
  );
}
