import { Badge, Tooltip } from "@mantine/core";
import type { Run } from "@/api/types";
import { isReported, originName } from "./states";

/** What logged or imported a run. Empty for a run that Arcadia trains. */
export function OriginBadge({ run }: { run: Pick<Run, "origin" | "origin_label"> }) {
  if (!isReported(run)) return null;
  const tooltip = run.origin === "imported" ? "Imported from files" : "Logged by a script outside Arcadia";
  return (
    <Tooltip label={tooltip}>
      <Badge size="xs" variant="default" tt="none" fw={500}>
        {originName(run)}
      </Badge>
    </Tooltip>
  );
}
