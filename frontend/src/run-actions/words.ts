import type { BulkAction } from "@/api/types";

export const ACTION_NAMES: Record<BulkAction, string> = {
  stop: "Stop",
  pause: "Pause",
  resume: "Resume",
  archive: "Archive",
  restore: "Restore",
  purge: "Purge",
};

/** Notifications after each action: "Run 7 archived". */
export const ACTION_RESULTS: Record<BulkAction, string> = {
  stop: "stopping",
  pause: "pausing",
  resume: "queued again",
  archive: "archived",
  restore: "restored",
  purge: "purged",
};

/** Past participles, for messages such as "Run 7 was NOT stopped". */
export const ACTION_PARTICIPLES: Record<BulkAction, string> = {
  stop: "stopped",
  pause: "paused",
  resume: "resumed",
  archive: "archived",
  restore: "restored",
  purge: "purged",
};
