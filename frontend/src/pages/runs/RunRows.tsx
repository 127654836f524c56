import { Checkbox } from "@mantine/core";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, memo, useEffect, useRef, useState } from "react";
import { highlightRun } from "@/charts/plotly";
import { RunMenu } from "@/run-actions/RunMenu";
import { BaselineDelta } from "./BaselineDelta";
import { RUN_COLUMN, type RunColumn } from "./columns";
import { ChoiceItems } from "./CurveChoice";
import { EditableRun } from "./EditableRun";
import { type EditedField, isEditedField } from "./RunEditor";
import { ROW_HEIGHTS, useRowDensity } from "./useDensity";
import { useRowKeys } from "./useRowKeys";
import type { RunTableModel } from "./useRunTable";

interface RunRowsProps {
  model: RunTableModel;
  shown: readonly RunColumn[];
  /** Styles of the pinned columns. */
  pinned: readonly (CSSProperties | undefined)[];
}

interface Edited {
  id: string;
  field: EditedField;
}

/** The visible rows of the table. Scrolling renders only those that become visible. */
export function RunRows({ model, shown, pinned }: RunRowsProps) {
  const rows = model.table.getRowModel().rows;
  const body = useRef<HTMLTableSectionElement>(null);
  const height = ROW_HEIGHTS[useRowDensity()];
  const { items, before, after, scrollTo } = useVisibleRows(rows.length, body, height);
  const [edited, setEdited] = useState<Edited | null>(null);
  useRowKeys({
    ids: rows.map(({ id }) => id),
    body,
    scrollTo,
    toggle: (row) => rows[row]?.toggleSelected(),
    edit: (id) => setEdited({ id, field: "name" }),
  });
  return (
    <tbody ref={body} role="rowgroup">
      {before > 0 && <tr style={{ height: before }} aria-hidden />}
      {items.map(({ index }) => {
        const row = rows[index];
        return (
          row && (
            <RunRow
              key={row.id}
              row={row}
              index={index}
              isSelected={row.getIsSelected()}
              shown={shown}
              pinned={pinned}
              height={height}
              edited={edited?.id === row.id ? edited.field : null}
              onEdit={setEdited}
            />
          )
        );
      })}
      {after > 0 && <tr style={{ height: after }} aria-hidden />}
    </tbody>
  );
}

interface RunRowProps extends Omit<RunRowsProps, "model"> {
  row: ReturnType<RunTableModel["table"]["getRowModel"]>["rows"][number];
  index: number;
  isSelected: boolean;
  height: number;
  /** The field being edited, or null. */
  edited: EditedField | null;
  onEdit: (edited: Edited | null) => void;
}

const RunRow = memo(function RunRow({
  row,
  index,
  isSelected,
  shown,
  pinned,
  height,
  edited,
  onEdit,
}: RunRowProps) {
  const run = row.original;
  return (
    <tr
      role="row"
      aria-rowindex={index + 2}
      data-selected={isSelected || undefined}
      style={{ height }}
      onMouseEnter={() => highlightRun(run.id)}
      onMouseLeave={() => highlightRun(null)}
    >
      <td role="cell" data-pinned style={{ left: 0 }}>
        <Checkbox
          size="xs"
          aria-label={`Select ${run.name}`}
          checked={isSelected}
          onChange={row.getToggleSelectedHandler()}
        />
      </td>
      {shown.map(({ id, number, pinned: isPinned, cell }, at) => {
        const content = (
          <>
            {cell(run)}
            <BaselineDelta run={run} column={id} />
          </>
        );
        return (
          <td
            key={id}
            role="cell"
            data-number={number || undefined}
            data-pinned={isPinned || undefined}
            style={pinned[at]}
            onDoubleClick={isEditedField(id) ? () => onEdit({ id: row.id, field: id }) : undefined}
          >
            {id === RUN_COLUMN ? (
              <EditableRun
                run={run}
                field={edited}
                onEdit={(field) => onEdit(field && { id: row.id, field })}
              >
                {content}
              </EditableRun>
            ) : (
              content
            )}
          </td>
        );
      })}
      <td role="cell">
        <RunMenu run={run}>
          <ChoiceItems run={run} />
        </RunMenu>
      </td>
    </tr>
  );
});

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
