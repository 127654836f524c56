import { Menu } from "@mantine/core";
import type { ListedRun } from "@/api/types";
import { unsupportedReason } from "@/ui/states";

/** Reason in a menu why the items below it are disabled. Empty if this server can start and play the run. */
export function UnsupportedNote({ run }: { run: Pick<ListedRun, "actions" | "unsupported_because"> }) {
  const reason = unsupportedReason(run);
  return reason && <Menu.Label>{reason}</Menu.Label>;
}
