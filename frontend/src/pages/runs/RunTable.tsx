import { ActionIcon, Checkbox, Menu, UnstyledButton, VisuallyHidden } from "@mantine/core";
import { useElementSize } from "@mantine/hooks";
import { IconArrowDown, IconArrowUp, IconDotsVertical, IconPinFilled } from "@tabler/icons-react";
import { type CSSProperties, useMemo, useRef, useState } from "react";
import { MenuAction } from "@/ui/MenuAction";
import { RUN_COLUMN, type RunColumn } from "./columns";
import { MIN_WIDTH, moveColumn, removeColumn, updateColumn, WIDTH_STEP } from "./columnSpecs";
import { RunRows } from "./RunRows";
import { addSort, MAX_SORT_KEYS, nextSort, type SortPlace, sortPlace, splitSort } from "./sorting";
import { SparklineBatches } from "./SparklineCell";
import { StickyTable } from "./StickyTable";
import { useRowDensity } from "./useDensity";
import { useDragWidth } from "./useDragWidth";
import { ROVING_ITEM, useRovingTabIndex } from "./useRovingTabIndex";
import type { RunTableModel } from "./useRunTable";
import classes from "./runs.module.css";

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

interface ColumnHeaderProps {
  column: RunColumn;
  /** The neighbors that the column can swap places with. */
  before: RunColumn | undefined;
  after: RunColumn | undefined;
  columns: readonly string[];
  onColumns: (columns: string[]) => void;
  sort: string;
  onSort: (sort: string) => void;
  style: CSSProperties | undefined;
  /** Called with the width while the edge is dragged, then with null. */
  onDragWidth: (width: number | null) => void;
}

const DRAG_TYPE = "application/x-arcadia-column";

/**
 * Column header. A click sorts, a Shift-click sorts by several columns, dragging moves the column, and
 * dragging its edge resizes it. The menu offers the same for keyboards.
 */
function ColumnHeader(props: ColumnHeaderProps) {
  const { column, columns, onColumns, sort, style } = props;
  const { id, title, number, pinned, sort: key } = column;
  const place = sortPlace(sort, key);
  const isRunColumn = id === RUN_COLUMN;
  const [isDragOver, setIsDragOver] = useState(false);
  return (
    <th
      role="columnheader"
      scope="col"
      aria-sort={key ? place.direction : undefined}
      data-number={number || undefined}
      data-pinned={pinned || undefined}
      data-drop={isDragOver || undefined}
      style={style}
      draggable={!isRunColumn}
      onDragStart={(event) => {
        event.dataTransfer.setData(DRAG_TYPE, id);
        event.dataTransfer.effectAllowed = "move";
      }}
      onDragOver={(event) => {
        if (isRunColumn || !event.dataTransfer.types.includes(DRAG_TYPE)) return;
        event.preventDefault();
        setIsDragOver(true);
      }}
      onDragLeave={() => setIsDragOver(false)}
      onDrop={(event) => {
        setIsDragOver(false);
        const moving = event.dataTransfer.getData(DRAG_TYPE);
        if (!isRunColumn && moving) onColumns(moveColumn(columns, moving, id));
      }}
    >
      <div className={classes.headerCell}>
        <SortButton column={column} place={place} sort={sort} onSort={props.onSort} />
        {pinned && !isRunColumn && <IconPinFilled size={12} aria-label="pinned" />}
        <HeaderMenu {...props} />
      </div>
      <ResizeHandle
        title={title}
        width={column.width}
        onDrag={props.onDragWidth}
        onResize={(width) => onColumns(updateColumn(columns, id, { width }))}
        onReset={() => onColumns(updateColumn(columns, id, { width: null }))}
      />
    </th>
  );
}

interface SortButtonProps {
  column: RunColumn;
  place: SortPlace;
  sort: string;
  onSort: (sort: string) => void;
}

function SortButton({ column: { title, sort: key }, place, sort, onSort }: SortButtonProps) {
  const label = (
    <span className={classes.clip} title={title}>
      {title}
    </span>
  );
  if (!key) return label;
  const { direction, rank } = place;
  return (
    <UnstyledButton
      {...ROVING_ITEM}
      className={classes.sort}
      title="Click to sort, Shift-click to add to the order"
      onClick={(event) => onSort(event.shiftKey ? addSort(sort, key) : nextSort(sort, key))}
    >
      {label}
      {direction === "ascending" && <IconArrowUp size={14} aria-hidden style={{ flex: "none" }} />}
      {direction === "descending" && <IconArrowDown size={14} aria-hidden style={{ flex: "none" }} />}
      {rank > 0 && <span className={classes.rank}>{rank}</span>}
    </UnstyledButton>
  );
}

type SortItemsProps = Pick<ColumnHeaderProps, "sort" | "onSort"> & { sortKey: string };

/** Menu items that sort by the column alone, or add it to the order. */
function SortItems({ sort, onSort, sortKey: key }: SortItemsProps) {
  const parts = splitSort(sort);
  const { direction } = sortPlace(sort, key);
  const isAlone = parts.length === 1 && direction !== "none";
  return (
    <>
      <Menu.Item onClick={() => onSort(`-${key}`)}>Sort descending</Menu.Item>
      <Menu.Item onClick={() => onSort(key)}>Sort ascending</Menu.Item>
      {!isAlone && (
        <Menu.Item
          disabled={direction === "none" && parts.length >= MAX_SORT_KEYS}
          onClick={() => onSort(addSort(sort, key))}
        >
          {ADD_LABELS[direction]}
        </Menu.Item>
      )}
      <Menu.Divider />
    </>
  );
}

const ADD_LABELS: Record<SortPlace["direction"], string> = {
  none: "Add to sort order",
  descending: "Reverse in sort order",
  ascending: "Remove from sort order",
};

function HeaderMenu({ column, before, after, columns, onColumns, sort, onSort }: ColumnHeaderProps) {
  const { id, title, width } = column;
  const widen = (by: number) => onColumns(updateColumn(columns, id, { width: width + by }));
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon {...ROVING_ITEM} size={20} className={classes.headerMenu} aria-label={`Column ${title}`}>
          <IconDotsVertical size={14} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {column.sort && <SortItems sort={sort} onSort={onSort} sortKey={column.sort} />}
        <Menu.Item closeMenuOnClick={false} onClick={() => widen(WIDTH_STEP)}>
          Wider
        </Menu.Item>
        <Menu.Item closeMenuOnClick={false} onClick={() => widen(-WIDTH_STEP)}>
          Narrower
        </Menu.Item>
        <Menu.Item onClick={() => onColumns(updateColumn(columns, id, { width: null }))}>
          Reset width
        </Menu.Item>
        {id !== RUN_COLUMN && <PositionItems {...{ column, before, after, columns, onColumns }} />}
      </Menu.Dropdown>
    </Menu>
  );
}

type PositionItemsProps = Pick<ColumnHeaderProps, "column" | "before" | "after" | "columns" | "onColumns">;

/** Menu items for all columns except the run column, which is always shown first. */
function PositionItems({ column, before, after, columns, onColumns }: PositionItemsProps) {
  const { id, pinned = false } = column;
  return (
    <>
      <MenuAction
        label="Move left"
        disabled={!before}
        onClick={() => before && onColumns(moveColumn(columns, id, before.id))}
      />
      <MenuAction
        label="Move right"
        disabled={!after}
        onClick={() => after && onColumns(moveColumn(columns, id, after.id))}
      />
      <Menu.Item onClick={() => onColumns(updateColumn(columns, id, { pinned: !pinned }))}>
        {pinned ? "Unpin" : "Pin left"}
      </Menu.Item>
      <Menu.Item onClick={() => onColumns(removeColumn(columns, id))}>Hide</Menu.Item>
    </>
  );
}

interface ResizeHandleProps {
  title: string;
  width: number;
  /** Called with the width while the edge is dragged, then with null. */
  onDrag: (width: number | null) => void;
  onResize: (width: number) => void;
  onReset: () => void;
}

/** Edge of a column header. Drag it or use the arrow keys to resize; double-click to reset. */
export function ResizeHandle({ title, width, onDrag, onResize, onReset }: ResizeHandleProps) {
  const handlers = useDragWidth({ width, minimum: MIN_WIDTH, direction: 1, onDrag, onResize });
  return (
    <div
      role="separator"
      aria-orientation="vertical"
      aria-label={`Width of ${title}`}
      aria-valuenow={width}
      // Keyboard users have the column's menu.
      tabIndex={-1}
      className={classes.resize}
      draggable
      // Resizing must not start to drag the column.
      onDragStart={(event) => {
        event.preventDefault();
        event.stopPropagation();
      }}
      {...handlers}
      onDoubleClick={onReset}
      onKeyDown={(event) => {
        if (event.key === "ArrowLeft") onResize(width - WIDTH_STEP);
        if (event.key === "ArrowRight") onResize(width + WIDTH_STEP);
      }}
    />
  );
}
