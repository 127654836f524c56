import {
  IconActivityHeartbeat,
  IconSettings,
  IconAlertTriangle,
  IconDeviceFloppy,
  IconGitFork,
  IconRefresh,
  IconStarFilled,
} from "@tabler/icons-react";
import type { Mark } from "@/api/types";

/** Kinds of marks, as the menu lists them. Anomalies are listed by their rules. */
export const MARK_KINDS = {
  checkpoint: "Checkpoints",
  fork: "Forks",
  resume: "Resumed attempts",
  change: "Changed settings",
  warning: "Warnings",
} as const;

const SIZE = 12;

/** Icon of a mark. */
export function MarkIcon({ mark }: { mark: Mark }) {
  if (mark.best) return <IconStarFilled size={SIZE} />;
  switch (mark.kind) {
    case "checkpoint":
      return <IconDeviceFloppy size={SIZE} />;
    case "fork":
      return <IconGitFork size={SIZE} />;
    case "resume":
      return <IconRefresh size={SIZE} />;
    case "change":
      return <IconSettings size={SIZE} />;
    case "warning":
      return <IconAlertTriangle size={SIZE} />;
    case "anomaly":
      return <IconActivityHeartbeat size={SIZE} />;
  }
}

const IMPORTANCE: readonly Mark["kind"][] = ["anomaly", "warning", "change", "fork", "resume", "checkpoint"];

/** Return the mark that represents all marks of a place. */
export function mostImportant(marks: readonly Mark[]): Mark | undefined {
  const rank = (mark: Mark) => (mark.best ? 2.5 : IMPORTANCE.indexOf(mark.kind));
  return marks.toSorted((a, b) => rank(a) - rank(b))[0];
}
