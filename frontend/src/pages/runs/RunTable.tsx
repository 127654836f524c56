import { Checkbox, VisuallyHidden } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { type CSSProperties, useMemo, useRef, useState } from "react";
import { ColumnHeader } from "./ColumnHeader";
import { RUN_COLUMN, type RunColumn } from "./columns";
import { RunRows } from "./RunRows";
import { SparklineBatches } from "./SparklineCell";
import { StickyTable } from "./StickyTable";
import { useRowDensity } from "./useDensity";
import { useRovingTabIndex } from "./useRovingTabIndex";
import type { RunTableModel } from "./useRunTable";

const SELECT_WIDTH = 44;
const MENU_WIDTH = 40;

interface RunTableProps {
  model: RunTableModel;
  /** Specs of the shown columns. */
  columns: readonly string[];
  onColumns: (columns: string[]) => void;
  sort: string;
  onSort: (sort: string) => void;
}

/** Table of runs. Only the visible rows exist, so a hundred thousand are as fast as ten. */
export function RunTable({ model, columns, onColumns, sort, onSort }: RunTableProps) {
  const density = useRowDensity();
  const [dragged, setDragged] = useState<{ id: string; width: number } | null>(null);
  // Memoized so that other changes of the table do not render its rows again.
  const shown = useMemo(
    () =>
      model.shown.map((column) => (column.id === dragged?.id ? { ...column, width: dragged.width } : column)),
    [model.shown, dragged],
  );
  const pinned = useMemo(() => pinnedStyles(shown), [shown]);
  const head = useRef<HTMLTableRowElement>(null);
  useRovingTabIndex(head);
  const { ref: frame, width: frameWidth } = useElementSize();
  const width = SELECT_WIDTH + MENU_WIDTH + shown.reduce((sum, column) => sum + column.width, 0);

  return (
    <SparklineBatches runs={model.rows.loaded} enabled={shown.some(({ id }) => id === "curve")}>
      <StickyTable
        label="Runs"
        rowCount={model.rows.count + 1}
        minWidth={width}
        density={density}
        frameRef={frame}
        scrolls={frameWidth < width}
        grid={[SELECT_WIDTH, ...shown, MENU_WIDTH].map(trackOf).join(" ")}
        head={
          <tr role="row" aria-rowindex={1} ref={head}>
            <th role="columnheader" scope="col" data-pinned style={{ left: 0 }}>
              <VisuallyHidden>Selection</VisuallyHidden>
              <Checkbox
                size="xs"
                aria-label="Select all runs"
                checked={model.areAllSelected}
                indeterminate={model.count > 0 && !model.areAllSelected}
                onChange={model.toggleAll}
              />
            </th>
            {shown.map((column, at) => (
              <ColumnHeader
                key={column.id}
                column={column}
                before={at > 1 ? shown[at - 1] : undefined}
                after={shown[at + 1]}
                columns={columns}
                onColumns={onColumns}
                sort={sort}
                onSort={onSort}
                style={pinned[at]}
                onDragWidth={(width) => setDragged(width === null ? null : { id: column.id, width })}
              />
            ))}
            <th role="columnheader" scope="col">
              <VisuallyHidden>Actions</VisuallyHidden>
            </th>
          </tr>
        }
      >
        <RunRows model={model} shown={shown} pinned={pinned} />
      </StickyTable>
    </SparklineBatches>
  );
}

/** Return the width of a column. The column of the run takes the remaining space. */
function trackOf(column: RunColumn | number): string {
  if (typeof column === "number") return `${column}px`;
  return column.id === RUN_COLUMN ? `minmax(${column.width}px, 1fr)` : `${column.width}px`;
}

/** Return the styles of pinned columns. Each sticks to the right of the pinned ones before it. */
function pinnedStyles(shown: readonly RunColumn[]): (CSSProperties | undefined)[] {
  let left = SELECT_WIDTH;
  return shown.map(({ pinned, width }) => {
    if (!pinned) return undefined;
    left += width;
    return { left: left - width };
  });
}
