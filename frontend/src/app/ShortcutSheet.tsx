import { Kbd, Modal } from "@mantine/core";
import { DataTable } from "@/ui/DataTable";
import type { Shortcut } from "@/ui/shortcuts";

const PALETTE_KEYS = { keys: "Ctrl K", does: "Open a page, a run or a project" };

/** Keys that the run table handles. */
const TABLE_KEYS = [
  { keys: "j", does: "Run table: next run" },
  { keys: "k", does: "Run table: previous run" },
  { keys: "x", does: "Run table: select run" },
  { keys: "Enter", does: "Run table: open run" },
  { keys: "F2", does: "Run table: edit name, tags and notes" },
  { keys: "b", does: "Run table: actions for the selected runs" },
];

/** Keys that the launch form handles. */
const FORM_KEYS = [{ keys: "Ctrl Enter", does: "Launch form: launch run" }];

/** Keys that replays handle. */
const REPLAY_KEYS = [
  { keys: "Space", does: "Replay: play or pause" },
  { keys: ", .", does: "Replay: previous or next frame" },
  { keys: "[ ]", does: "Replay: previous or next decision" },
];

interface ShortcutSheetProps {
  opened: boolean;
  /** Shortcuts of every page. */
  shortcuts: readonly Pick<Shortcut, "keys" | "does">[];
  onClose: () => void;
}

/** List of all keyboard shortcuts, opened with "?". */
export function ShortcutSheet({ opened, shortcuts, onClose }: ShortcutSheetProps) {
  return (
    <Modal
      opened={opened}
      onClose={onClose}
      title="Keyboard shortcuts"
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <DataTable
        withRowBorders={false}
        verticalSpacing={6}
        rows={[...shortcuts, PALETTE_KEYS, ...FORM_KEYS, ...TABLE_KEYS, ...REPLAY_KEYS]}
        rowKey={({ keys }) => keys}
        columns={[
          {
            cell: ({ keys }) =>
              keys.split(" ").map((key, place) => (
                <Kbd key={place} mr={4}>
                  {key}
                </Kbd>
              )),
            cellProps: () => ({ w: 96 }),
          },
          { cell: ({ does }) => does },
        ]}
      />
    </Modal>
  );
}
