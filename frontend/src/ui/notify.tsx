import { Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { ReactNode } from "react";

/** How long a deed can be undone from its notice. */
export const UNDO_MS = 10_000;

const CLOSE = { closeButtonProps: { "aria-label": "Close the notice" } };

/** Say in a corner that something was done. */
export function notifyDone(message: ReactNode): void {
  notifications.show({ ...CLOSE, message, color: "gray", autoClose: 4000 });
}

/** Say in a corner what was done, with a button that takes it back; the id lets hideNotice find it. */
export function notifyUndoable(id: string, message: string, undo: () => void): void {
  const takeBack = () => {
    hideNotice(id);
    undo();
  };
  // A notice of the same name would keep its own time and its own way back.
  hideNotice(id);
  notifications.show({
    ...CLOSE,
    id,
    color: "gray",
    autoClose: UNDO_MS,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        <Button size="compact-sm" variant="default" onClick={takeBack}>
          Undo
        </Button>
      </Group>
    ),
  });
}

export function hideNotice(id: string): void {
  notifications.hide(id);
}

/** Say in a corner what went wrong, in the server's words. */
export function notifyProblem(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  notifications.show({ ...CLOSE, message, color: "red", autoClose: 10_000, withBorder: true });
}
