import { ActionIcon, Menu, UnstyledButton } from "@mantine/core";
import { IconArrowDown, IconArrowUp, IconDotsVertical, IconPinFilled } from "@tabler/icons-react";
import { type CSSProperties, useState } from "react";
import { OWN, type RunColumn } from "./columns";
import { changedColumn, movedColumn, WIDTH_STEP, withoutColumn } from "./columnSpecs";
import { ResizeHandle } from "./ResizeHandle";
import classes from "./runs.module.css";
import { STOP } from "./useOneTabStop";
import { nextSort } from "./view";

interface ColumnHeaderProps {
  column: RunColumn;
  /** Its neighbours, if it can change places with them. */
  before: RunColumn | undefined;
  after: RunColumn | undefined;
  columns: readonly string[];
  onColumns: (columns: string[]) => void;
  sort: string;
  onSort: (sort: string) => void;
  style: CSSProperties | undefined;
  /** Its width while its edge is dragged. */
  onDragWidth: (width: number | null) => void;
}

const DRAGGED = "application/x-arcadia-column";

/** Sorts by a click, moves by a drag, is resized at its edge; the menu does the same from the keyboard. */
export function ColumnHeader(props: ColumnHeaderProps) {
  const { column, columns, onColumns, sort, style } = props;
  const { id, title, number, pinned, sort: key } = column;
  const direction = key === sort ? "ascending" : sort === `-${key}` ? "descending" : "none";
  const own = id === OWN;
  const [over, setOver] = useState(false);
  return (
    <th
      scope="col"
      aria-sort={key ? direction : undefined}
      data-number={number || undefined}
      data-pinned={pinned || undefined}
      data-drop={over || undefined}
      style={style}
      draggable={!own}
      onDragStart={(event) => {
        event.dataTransfer.setData(DRAGGED, id);
        event.dataTransfer.effectAllowed = "move";
      }}
      onDragOver={(event) => {
        if (own || !event.dataTransfer.types.includes(DRAGGED)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        const moving = event.dataTransfer.getData(DRAGGED);
        if (!own && moving) onColumns(movedColumn(columns, moving, id));
      }}
    >
      <div className={classes.headerCell}>
        <Sorter column={column} direction={direction} sort={sort} onSort={props.onSort} />
        {pinned && !own && <IconPinFilled size={12} aria-label="pinned" />}
        <HeaderMenu {...props} />
      </div>
      <ResizeHandle
        title={title}
        width={column.width}
        onDrag={props.onDragWidth}
        onResize={(width) => onColumns(changedColumn(columns, id, { width }))}
        onReset={() => onColumns(changedColumn(columns, id, { width: null }))}
      />
    </th>
  );
}

interface SorterProps {
  column: RunColumn;
  direction: "ascending" | "descending" | "none";
  sort: string;
  onSort: (sort: string) => void;
}

function Sorter({ column: { title, sort: key }, direction, sort, onSort }: SorterProps) {
  const words = (
    <span className={classes.clip} title={title}>
      {title}
    </span>
  );
  if (!key) return words;
  return (
    <UnstyledButton {...STOP} className={classes.sort} onClick={() => onSort(nextSort(sort, key))}>
      {words}
      {direction === "ascending" && <IconArrowUp size={14} aria-hidden style={{ flex: "none" }} />}
      {direction === "descending" && <IconArrowDown size={14} aria-hidden style={{ flex: "none" }} />}
    </UnstyledButton>
  );
}

function HeaderMenu({ column, before, after, columns, onColumns }: ColumnHeaderProps) {
  const { id, title, width } = column;
  const widen = (by: number) => onColumns(changedColumn(columns, id, { width: width + by }));
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon {...STOP} size={20} className={classes.headerMenu} aria-label={`Column ${title}`}>
          <IconDotsVertical size={14} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item closeMenuOnClick={false} onClick={() => widen(WIDTH_STEP)}>
          Wider
        </Menu.Item>
        <Menu.Item closeMenuOnClick={false} onClick={() => widen(-WIDTH_STEP)}>
          Narrower
        </Menu.Item>
        <Menu.Item onClick={() => onColumns(changedColumn(columns, id, { width: null }))}>
          Reset width
        </Menu.Item>
        {id !== OWN && <PlaceItems {...{ column, before, after, columns, onColumns }} />}
      </Menu.Dropdown>
    </Menu>
  );
}

type PlaceItemsProps = Pick<ColumnHeaderProps, "column" | "before" | "after" | "columns" | "onColumns">;

/** What the run's own column cannot do: it is always there, and always first. */
function PlaceItems({ column, before, after, columns, onColumns }: PlaceItemsProps) {
  const { id, pinned = false } = column;
  return (
    <>
      <Menu.Item disabled={!before} onClick={() => before && onColumns(movedColumn(columns, id, before.id))}>
        Move left
      </Menu.Item>
      <Menu.Item disabled={!after} onClick={() => after && onColumns(movedColumn(columns, id, after.id))}>
        Move right
      </Menu.Item>
      <Menu.Item onClick={() => onColumns(changedColumn(columns, id, { pinned: !pinned }))}>
        {pinned ? "Unpin" : "Pin to the left"}
      </Menu.Item>
      <Menu.Item onClick={() => onColumns(withoutColumn(columns, id))}>Hide</Menu.Item>
    </>
  );
}
