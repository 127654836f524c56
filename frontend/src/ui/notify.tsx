import { Button, Group, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { ReactNode } from "react";

/** How long an undo notification stays open. */
export const UNDO_MS = 10_000;

const CLOSE = { closeButtonProps: { "aria-label": "Close notification" } };

/** Show a notification that something is done. */
export function notifyDone(message: ReactNode): void {
  notifications.show({ ...CLOSE, message, color: "gray", autoClose: 4000 });
}

/** Show a notification with an undo button. hideNotification closes it by its id. */
export function notifyUndoable(id: string, message: string, undo: () => void): void {
  const undoAndHide = () => {
    hideNotification(id);
    undo();
  };
  // A notification with the same id would keep its old timer and undo action.
  hideNotification(id);
  notifications.show({
    ...CLOSE,
    id,
    color: "gray",
    autoClose: UNDO_MS,
    message: (
      <Group justify="space-between" wrap="nowrap">
        <Text size="sm">{message}</Text>
        <Button size="compact-sm" variant="default" onClick={undoAndHide}>
          Undo
        </Button>
      </Group>
    ),
  });
}

export function hideNotification(id: string): void {
  notifications.hide(id);
}

/** Show a notification with an error message. */
export function notifyProblem(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  notifications.show({
    ...CLOSE,
    message,
    color: "red",
    autoClose: 10_000,
    withBorder: true,
    "data-problem": true,
  });
}
