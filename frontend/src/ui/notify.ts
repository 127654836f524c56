import { notifications } from "@mantine/notifications";

/** Say in a corner that something was done. */
export function notifyDone(message: string): void {
  notifications.show({ message, color: "gray", autoClose: 4000 });
}

/** Say in a corner what went wrong, in the server's words. */
export function notifyProblem(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  notifications.show({ message, color: "red", autoClose: 10_000, withBorder: true });
}
