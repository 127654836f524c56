import type { BulkAction } from "@/api/types";

export const ACTION_NAMES: Record<BulkAction, string> = {
  stop: "Stop",
  pause: "Pause",
  resume: "Resume",
  archive: "Archive",
  restore: "Restore",
  purge: "Purge",
};

export const ACTION_DONE: Record<BulkAction, string> = {
  stop: "asked to stop",
  pause: "asked to pause",
  resume: "queued again",
  archive: "archived",
  restore: "restored",
  purge: "deleted",
};

/** The participle for messages such as "Run 7 was NOT stopped". */
export const ACTION_PAST: Record<BulkAction, string> = {
  stop: "stopped",
  pause: "paused",
  resume: "resumed",
  archive: "archived",
  restore: "restored",
  purge: "deleted",
};
