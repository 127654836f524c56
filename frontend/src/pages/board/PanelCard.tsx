import { ActionIcon, Button, Menu, Text } from "@mantine/core";
import { IconArrowsDiagonal, IconDots, IconGripVertical } from "@tabler/icons-react";
import {
  type CSSProperties,
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useRef,
  useState,
} from "react";
import type { Board, BoardPanel } from "@/api/types";
import { LinkedFigure } from "@/charts/AddressFigure";
import { panelEmbedAddress } from "@/charts/embed";
import { titleOf, useFigureKind } from "@/charts/figureKind";
import { usePanelAddress } from "@/charts/usePanelAddress";
import { MenuAction } from "@/ui/MenuAction";
import { HEIGHT_STEP, withSize } from "./panels";
import classes from "./board.module.css";

interface PanelCardProps {
  board: Board;
  panel: BoardPanel;
  editing: boolean;
  isFirst: boolean;
  isLast: boolean;
  onEdit: () => void;
  /** Replace the panel by a changed one, or by none. */
  onReplace: (panels: BoardPanel[]) => void;
  onCopy: () => void;
  /** Move the panel by a number of places. */
  onMove: (by: number) => void;
  /** Called with the key of the panel while it is dragged, then with null. */
  onDrag: (key: string | null) => void;
  /** Called when another panel is dropped here. */
  onDrop: () => void;
}

/** A chart on a board. In edit mode it can be moved, resized, copied and removed. */
export function PanelCard(props: PanelCardProps) {
  const { board, panel, editing, onReplace } = props;
  const card = useRef<HTMLElement>(null);
  const [resized, setResized] = useState<BoardPanel | null>(null);
  const { columns = 6, height = 320 } = resized ?? panel;
  const kind = useFigureKind(panel.address);
  const title = panel.title || titleOf(kind, panel.address);
  const { address, problem } = usePanelAddress(board.project, panel);
  return (
    <section
      ref={card}
      className={classes.card}
      style={{ "--columns": columns } as CSSProperties}
      aria-label={title}
      onDragOver={(event) => editing && event.preventDefault()}
      onDrop={editing ? props.onDrop : undefined}
    >
      {editing && <Tools {...props} title={title} />}
      {address ? (
        <LinkedFigure
          address={address}
          title={panel.title}
          height={height}
          embed={panelEmbedAddress(board.project_id, panel.key)}
        />
      ) : (
        <div className={classes.nothing} style={{ height: height + 28 }}>
          <Text size="sm" fw={600}>
            {title}
          </Text>
          <Text size="sm" c="dimmed" role="status">
            {problem ?? "Loading the runs…"}
          </Text>
          {problem && (
            <Button size="compact-sm" variant="default" onClick={props.onEdit}>
              Edit chart
            </Button>
          )}
        </div>
      )}
      {editing && (
        <ResizeCorner
          title={title}
          panel={resized ?? panel}
          card={card}
          onResize={setResized}
          onDone={() => {
            if (resized && (resized.columns !== panel.columns || resized.height !== panel.height))
              onReplace([{ ...panel, columns: resized.columns, height: resized.height }]);
            setResized(null);
          }}
        />
      )}
    </section>
  );
}

function Tools({
  title,
  panel,
  isFirst,
  isLast,
  onEdit,
  onReplace,
  onCopy,
  onMove,
  onDrag,
}: PanelCardProps & { title: string }) {
  return (
    <div className={classes.tools}>
      <span
        className={classes.grip}
        draggable
        title="Drag to move"
        onDragStart={(event) => {
          event.dataTransfer.effectAllowed = "move";
          onDrag(panel.key);
        }}
        onDragEnd={() => onDrag(null)}
      >
        <IconGripVertical size={16} aria-hidden />
      </span>
      <Text size="xs" c="dimmed" className={classes.size}>
        {panel.columns} of 12 columns, {panel.height} px
      </Text>
      <Button size="compact-xs" variant="subtle" aria-label={`Edit chart ${title}`} h={24} onClick={onEdit}>
        Edit chart
      </Button>
      <Menu>
        <Menu.Target>
          <ActionIcon size={24} aria-label={`Actions for ${title}`}>
            <IconDots size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={onCopy}>Duplicate</Menu.Item>
          <MenuAction label="Move earlier" disabled={isFirst} onClick={() => onMove(-1)} />
          <MenuAction label="Move later" disabled={isLast} onClick={() => onMove(1)} />
          <Menu.Item color="red" onClick={() => onReplace([])}>
            Remove
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}

interface ResizeCornerProps {
  title: string;
  panel: BoardPanel;
  card: RefObject<HTMLElement | null>;
  /** Called with each size while it changes. */
  onResize: (panel: BoardPanel) => void;
  /** Called when the size is final. */
  onDone: () => void;
}

const STEPS: Record<string, [columns: number, height: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -HEIGHT_STEP],
  ArrowDown: [0, HEIGHT_STEP],
};

/** Corner of a panel. Drag it or press the arrow keys to resize the panel. */
function ResizeCorner({ title, panel, card, onResize, onDone }: ResizeCornerProps) {
  const drag = useRef<{ x: number; y: number; panel: BoardPanel; columnWidth: number } | null>(null);

  function start(event: PointerEvent<HTMLButtonElement>) {
    event.currentTarget.setPointerCapture(event.pointerId);
    const width = card.current?.getBoundingClientRect().width ?? 1;
    drag.current = { x: event.clientX, y: event.clientY, panel, columnWidth: width / (panel.columns ?? 1) };
  }

  function move(event: PointerEvent) {
    if (!drag.current) return;
    const { x, y, panel: before, columnWidth } = drag.current;
    const columns = (before.columns ?? 1) + (event.clientX - x) / columnWidth;
    onResize(withSize(before, columns, (before.height ?? 0) + event.clientY - y));
  }

  function stop() {
    drag.current = null;
    onDone();
  }

  function step(event: KeyboardEvent) {
    const by = STEPS[event.key];
    if (!by) return;
    event.preventDefault();
    onResize(withSize(panel, (panel.columns ?? 1) + by[0], (panel.height ?? 0) + by[1]));
  }

  return (
    <button
      type="button"
      className={classes.corner}
      aria-label={`Resize ${title}: ${panel.columns} of 12 columns, ${panel.height} pixels high`}
      title="Drag, or press the arrow keys, to resize"
      onPointerDown={start}
      onPointerMove={move}
      onPointerUp={stop}
      onPointerCancel={stop}
      onKeyDown={step}
      onKeyUp={(event) => event.key in STEPS && onDone()}
    >
      <IconArrowsDiagonal size={16} aria-hidden />
    </button>
  );
}
