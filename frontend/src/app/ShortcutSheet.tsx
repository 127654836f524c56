import { Kbd, Modal } from "@mantine/core";
import { DataTable } from "@/ui/DataTable";
import type { Shortcut } from "@/ui/shortcuts";

interface ShortcutSheetProps {
  opened: boolean;
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
        rows={shortcuts}
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
