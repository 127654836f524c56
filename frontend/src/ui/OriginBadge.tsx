import { Badge } from "@mantine/core";
import type { Run } from "@/api/types";
import { hint } from "./Hint";
import { isReported, originName } from "./states";

const TOOLTIPS: Record<Run["origin"], string> = {
  trained: "Trained by Arcadia",
  reported: "Logged by a script outside Arcadia",
  imported: "Imported from files",
  agent: "Imported from an agent file",
};

/** Badge with the origin of a logged or imported run. Empty for a run that Arcadia trains. */
export function OriginBadge({ run }: { run: Pick<Run, "origin" | "origin_label"> }) {
  if (!isReported(run)) return null;
  return (
    <Badge size="xs" variant="default" tt="none" fw={500} {...hint(TOOLTIPS[run.origin])}>
      {originName(run)}
    </Badge>
  );
}
