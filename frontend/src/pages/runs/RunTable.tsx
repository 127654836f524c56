import { Checkbox, VisuallyHidden } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, useEffect, useRef, useState } from "react";
import { highlightRun } from "@/charts/highlight";
import { BaselineDelta } from "./BaselineDelta";
import { ColumnHeader } from "./ColumnHeader";
import { EditableRun } from "./EditableRun";
import { RUN_COLUMN, type RunColumn } from "./columns";
import { RunMenu } from "@/run-actions/RunMenu";
import { ChoiceItems } from "./CurveChoice";
import classes from "./runs.module.css";
import { type EditedField, isEditedField } from "./RunEditor";
import { ROW_HEIGHTS, useRowDensity } from "./useDensity";
import { useRovingTabIndex } from "./useRovingTabIndex";
import { useRowKeys } from "./useRowKeys";
import { SparklineBatches } from "./SparklineCell";
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

/** Table of runs. It is virtualized, so a thousand rows are as fast as ten. */
export function RunTable({ model, columns, onColumns, sort, onSort }: RunTableProps) {
  const { table } = model;
  const density = useRowDensity();
  const [dragged, setDragged] = useState<{ id: string; width: number } | null>(null);
  const shown = model.shown.map((column) =>
    column.id === dragged?.id ? { ...column, width: dragged.width } : column,
  );
  const pinned = pinnedStyles(shown);
  const rows = table.getRowModel().rows;
  const body = useRef<HTMLTableSectionElement>(null);
  const head = useRef<HTMLTableRowElement>(null);
  useRovingTabIndex(head);
  const { items, before, after, scrollTo } = useVisibleRows(rows.length, body, ROW_HEIGHTS[density]);
  const [edited, setEdited] = useState<{ id: string; field: EditedField } | null>(null);
  useRowKeys({
    ids: rows.map(({ id }) => id),
    body,
    scrollTo,
    toggle: (row) => rows[row]?.toggleSelected(),
    edit: (id) => setEdited({ id, field: "name" }),
  });
  const { ref: frame, width: frameWidth } = useElementSize();
  const width = SELECT_WIDTH + MENU_WIDTH + shown.reduce((sum, column) => sum + column.width, 0);

  return (
    <SparklineBatches runs={model.runs}>
      <div ref={frame} className={classes.tableFrame} data-scrolls={frameWidth < width || undefined}>
        <table
          className={classes.table}
          data-density={density}
          style={{ minWidth: width }}
          aria-rowcount={rows.length + 1}
        >
          <colgroup>
            <col style={{ width: SELECT_WIDTH }} />
            {shown.map(({ id, width: columnWidth }) => (
              <col key={id} style={{ width: id === RUN_COLUMN ? undefined : columnWidth }} />
            ))}
            <col style={{ width: MENU_WIDTH }} />
          </colgroup>
          <thead>
            <tr aria-rowindex={1} ref={head}>
              <th scope="col" data-pinned style={{ left: 0 }}>
                <VisuallyHidden>Selection</VisuallyHidden>
                <Checkbox
                  size="xs"
                  aria-label="Select all loaded runs"
                  checked={rows.length > 0 && table.getIsAllRowsSelected()}
                  indeterminate={table.getIsSomeRowsSelected() && !table.getIsAllRowsSelected()}
                  onChange={table.getToggleAllRowsSelectedHandler()}
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
              <th scope="col">
                <VisuallyHidden>Actions</VisuallyHidden>
              </th>
            </tr>
          </thead>
          <tbody ref={body}>
            {before > 0 && <tr style={{ height: before }} aria-hidden />}
            {items.map(({ index }) => {
              const row = rows[index];
              if (!row) return null;
              return (
                <tr
                  key={row.id}
                  aria-rowindex={index + 2}
                  data-selected={row.getIsSelected() || undefined}
                  style={{ height: ROW_HEIGHTS[density] }}
                  onMouseEnter={() => highlightRun(row.original.id)}
                  onMouseLeave={() => highlightRun(null)}
                >
                  <td data-pinned style={{ left: 0 }}>
                    <Checkbox
                      size="xs"
                      aria-label={`Select ${row.original.name}`}
                      checked={row.getIsSelected()}
                      onChange={row.getToggleSelectedHandler()}
                    />
                  </td>
                  {shown.map(({ id, number, pinned: isPinned, cell }, at) => {
                    const content = (
                      <>
                        {cell(row.original)}
                        <BaselineDelta run={row.original} column={id} />
                      </>
                    );
                    return (
                      <td
                        key={id}
                        data-number={number || undefined}
                        data-pinned={isPinned || undefined}
                        style={pinned[at]}
                        onDoubleClick={
                          isEditedField(id) ? () => setEdited({ id: row.id, field: id }) : undefined
                        }
                      >
                        {id === RUN_COLUMN ? (
                          <EditableRun
                            run={row.original}
                            field={edited?.id === row.id ? edited.field : null}
                            onEdit={(field) => setEdited(field && { id: row.id, field })}
                          >
                            {content}
                          </EditableRun>
                        ) : (
                          content
                        )}
                      </td>
                    );
                  })}
                  <td>
                    <RunMenu run={row.original}>
                      <ChoiceItems run={row.original} />
                    </RunMenu>
                  </td>
                </tr>
              );
            })}
            {after > 0 && <tr style={{ height: after }} aria-hidden />}
          </tbody>
        </table>
      </div>
    </SparklineBatches>
  );
}

function useVisibleRows(count: number, body: React.RefObject<HTMLElement | null>, height: number) {
  const [top, setTop] = useState(0);
  // Content above the table changes, so measure its position whenever the page's height changes.
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      if (body.current) setTop(Math.round(body.current.getBoundingClientRect().top + window.scrollY));
    });
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [body]);
  const virtual = useWindowVirtualizer({
    count,
    estimateSize: () => height,
    overscan: 8,
    scrollMargin: top,
  });
  const { measure } = virtual;
  useEffect(measure, [measure, height]);
  const items = virtual.getVirtualItems();
  const first = items[0];
  const last = items.at(-1);
  return {
    items,
    scrollTo: (row: number) => virtual.scrollToIndex(row),
    before: first ? first.start - top : 0,
    after: last ? virtual.getTotalSize() - (last.end - top) : 0,
  };
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
