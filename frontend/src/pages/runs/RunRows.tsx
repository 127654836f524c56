import {
  type CSSProperties,
  memo,
  type RefObject,
  startTransition,
  useEffect,
  useRef,
  useState,
} from "react";
import { Link } from "react-router";
import type { ListedRun } from "@/api/types";
import { highlightRun } from "@/charts/plotly";
import { RunMenu } from "@/run-actions/RunMenu";
import { BaselineDelta } from "./BaselineDelta";
import { RUN_COLUMN, type RunColumn } from "./columns";
import { ChoiceItems } from "./CurveChoice";
import { EditableRun } from "./EditableRun";
import { type EditedField, isEditedField } from "./editedFields";
import classes from "./runs.module.css";
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
  const { rows, isSelected, toggle } = model;
  const body = useRef<HTMLTableSectionElement>(null);
  const height = ROW_HEIGHTS[useRowDensity()];
  const { first, end, isFast, scrollTo } = useVisibleRows(rows.count, body, height);
  const [edited, setEdited] = useState<Edited | null>(null);
  const edit = (id: number) => setEdited({ id, field: "name" });
  useRowKeys({ rows, body, isFast, scrollTo, toggle, edit });
  const shownList = useRef(rows.list);
  useEffect(() => {
    if (shownList.current === rows.list) return;
    // Another filter or order begins at its first row.
    shownList.current = rows.list;
    scrollTo(0);
  });
  const { show } = rows;
  useEffect(() => show(first, end), [show, first, end]);
  return (
    <tbody ref={body} role="rowgroup" style={{ height: rows.count * height }}>
      {Array.from({ length: end - first }, (_, at) => {
        const index = first + at;
        const run = rows.runAt(index);
        if (run && isFast)
          return <LightRow key={`light ${run.id}`} run={run} index={index} height={height} />;
        return run ? (
          <RunRow
            key={run.id}
            run={run}
            index={index}
            isSelected={isSelected(run.id)}
            onToggle={toggle}
            shown={shown}
            pinned={pinned}
            height={height}
            edited={edited?.id === run.id ? edited.field : null}
            onEdit={setEdited}
          />
        ) : (
          <EmptyRow key={`row ${index}`} index={index} height={height} retry={rows.retry} />
        );
      })}
    </tbody>
  );
}

/** Return the style of a row, which is placed by its number because the rows before it do not exist. */
const placed = (index: number, height: number): CSSProperties => ({ top: index * height, height });

/** A row while the page scrolls quickly. A whole row would take too long to render. */
function LightRow({ run, index, height }: { run: ListedRun; index: number; height: number }) {
  return (
    <tr role="row" aria-rowindex={index + 2} style={placed(index, height)}>
      <td role="cell" />
      <td role="cell">
        <Link to={`/runs/${run.id}`} className={classes.clip}>
          {run.name}
        </Link>
      </td>
    </tr>
  );
}

/** A row that is not loaded yet. */
function EmptyRow({
  index,
  height,
  retry,
}: {
  index: number;
  height: number;
  retry: (() => void) | undefined;
}) {
  return (
    <tr role="row" aria-rowindex={index + 2} style={placed(index, height)}>
      <td role="cell" />
      <td role="cell" className={classes.dim}>
        {retry ? (
          <button type="button" className={classes.retry} onClick={retry}>
            Not loaded. Try again
          </button>
        ) : (
          <span className={classes.loading} aria-label="Loading…" />
        )}
      </td>
    </tr>
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

/** Memoized, and made of plain elements, because scrolling renders many. */
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
      data-run={run.id}
      data-selected={isSelected || undefined}
      style={placed(index, height)}
      onMouseEnter={() => highlightRun(run.id)}
      onMouseLeave={() => highlightRun(null)}
    >
      <td role="cell" data-pinned style={SELECTION_STYLE}>
        <label className={classes.check}>
          <input
            type="checkbox"
            aria-label={`Select ${run.name}`}
            checked={isSelected}
            onChange={(event) => onToggle(run.id, event)}
          />
        </label>
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

const SELECTION_STYLE = { left: 0 };

/** Rows above and below the visible ones, so that scrolling shows no gap. */
const OVERSCAN = 8;
/** Rows of one scroll event above which scrolling is fast, and how long it stays so after the last one. */
const FAST_ROWS = 4;
const FAST_MS = 150;
/** Height of the page's bar and of the table's header, which cover rows. */
const COVERED = 56 + 36;

/** Return the rows near the viewport, whether they scroll quickly, and a function that scrolls to a row. */
function useVisibleRows(count: number, body: RefObject<HTMLElement | null>, height: number) {
  const [range, setRange] = useState({ first: 0, end: Math.ceil(window.innerHeight / height) + OVERSCAN });
  const [isFast, setFast] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let last = 0;
    const measure = () => {
      const above = -(body.current?.getBoundingClientRect().top ?? 0);
      const first = Math.max(0, Math.floor(above / height) - OVERSCAN);
      const end = Math.max(first, Math.ceil((above + window.innerHeight) / height)) + OVERSCAN;
      last = first;
      setRange((shown) => (shown.first === first && shown.end === end ? shown : { first, end }));
    };
    // The window scrolls.
    const scroll = () => {
      const before = last;
      measure();
      if (Math.abs(last - before) <= FAST_ROWS) return;
      setFast(true);
      clearTimeout(timer);
      timer = setTimeout(() => startTransition(() => setFast(false)), FAST_MS);
    };
    measure();
    // Content above the table changes, so measure its position whenever the page's height changes.
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    window.addEventListener("scroll", scroll, { passive: true });
    window.addEventListener("resize", measure);
    return () => {
      observer.disconnect();
      window.removeEventListener("scroll", scroll);
      clearTimeout(timer);
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
  return { first: Math.min(range.first, end), end, isFast, scrollTo };
}
