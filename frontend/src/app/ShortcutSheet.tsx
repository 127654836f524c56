import { Kbd, Modal, Table } from "@mantine/core";
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
      <Table withRowBorders={false} verticalSpacing={6}>
        <Table.Tbody>
          {shortcuts.map(({ keys, does }) => (
            <Table.Tr key={keys}>
              <Table.Td w={96}>
                {keys.split(" ").map((key, place) => (
                  <Kbd key={place} mr={4}>
                    {key}
                  </Kbd>
                ))}
              </Table.Td>
              <Table.Td>{does}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Modal>
  );
}
