import { Checkbox } from "@mantine/core";
import { type CSSProperties, memo, useEffect, useRef, useState } from "react";
import type { ListedRun } from "@/api/types";
import { highlightRun } from "@/charts/plotly";
import { RunMenu } from "@/run-actions/RunMenu";
import { BaselineDelta } from "./BaselineDelta";
import { RUN_COLUMN, type RunColumn } from "./columns";
import { ChoiceItems } from "./CurveChoice";
import { EditableRun } from "./EditableRun";
import { type EditedField, isEditedField } from "./editedFields";
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
  id: number;
  field: EditedField;
}

/** The visible rows of the table. Scrolling renders only those that become visible. */
export function RunRows({ model, shown, pinned }: RunRowsProps) {
  const { runs, isSelected, toggle } = model;
  const body = useRef<HTMLTableSectionElement>(null);
  const height = ROW_HEIGHTS[useRowDensity()];
  const { first, end, before, after, scrollTo } = useVisibleRows(runs.length, body, height);
  const [edited, setEdited] = useState<Edited | null>(null);
  useRowKeys({
    ids: runs.map(({ id }) => id),
    body,
    scrollTo,
    toggle,
    edit: (id) => setEdited({ id, field: "name" }),
  });
  return (
    <tbody ref={body} role="rowgroup">
      {before > 0 && <tr style={{ height: before }} aria-hidden />}
      {runs.slice(first, end).map((run, at) => (
        <RunRow
          key={run.id}
          run={run}
          index={first + at}
          isSelected={isSelected(run.id)}
          onToggle={toggle}
          shown={shown}
          pinned={pinned}
          height={height}
          edited={edited?.id === run.id ? edited.field : null}
          onEdit={setEdited}
        />
      ))}
      {after > 0 && <tr style={{ height: after }} aria-hidden />}
    </tbody>
  );
}

interface RunRowProps extends Omit<RunRowsProps, "model"> {
  run: ListedRun;
  index: number;
  isSelected: boolean;
  onToggle: RunTableModel["toggle"];
  height: number;
  /** The field being edited, or null. */
  edited: EditedField | null;
  onEdit: (edited: Edited | null) => void;
}

const RunRow = memo(function RunRow({
  run,
  index,
  isSelected,
  onToggle,
  shown,
  pinned,
  height,
  edited,
  onEdit,
}: RunRowProps) {
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
          onChange={(event) => onToggle(run.id, event)}
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
            onDoubleClick={isEditedField(id) ? () => onEdit({ id: run.id, field: id }) : undefined}
          >
            {id === RUN_COLUMN ? (
              <EditableRun
                run={run}
                field={edited}
                onEdit={(field) => onEdit(field && { id: run.id, field })}
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

/** Rows above and below the visible ones, so that scrolling shows no gap. */
const OVERSCAN = 8;
/** Height of the page's bar and of the table's header, which cover rows. */
const COVERED = 56 + 36;

/** Return which rows are near the viewport, and the heights of the others. The window scrolls. */
function useVisibleRows(count: number, body: React.RefObject<HTMLElement | null>, height: number) {
  const [range, setRange] = useState({ first: 0, end: Math.ceil(window.innerHeight / height) + OVERSCAN });
  useEffect(() => {
    const measure = () => {
      const above = -(body.current?.getBoundingClientRect().top ?? 0);
      const first = Math.max(0, Math.floor(above / height) - OVERSCAN);
      const end = Math.max(first, Math.ceil((above + window.innerHeight) / height)) + OVERSCAN;
      setRange((shown) => (shown.first === first && shown.end === end ? shown : { first, end }));
    };
    measure();
    // Content above the table changes, so measure its position whenever the page's height changes.
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    window.addEventListener("scroll", measure, { passive: true });
    window.addEventListener("resize", measure);
    return () => {
      observer.disconnect();
      window.removeEventListener("scroll", measure);
      window.removeEventListener("resize", measure);
    };
  }, [body, height, count]);

  /** Scroll until a row is visible, and show it at once. */
  function scrollTo(row: number) {
    const top = (body.current?.getBoundingClientRect().top ?? 0) + row * height;
    if (top < COVERED) window.scrollBy({ top: top - COVERED });
    else if (top + height > window.innerHeight) window.scrollBy({ top: top + height - window.innerHeight });
  }

  const end = Math.min(range.end, count);
  const first = Math.min(range.first, end);
  return { first, end, before: first * height, after: (count - end) * height, scrollTo };
}
