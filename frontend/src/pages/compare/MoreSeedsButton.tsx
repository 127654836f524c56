import { Button, Tooltip } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { isNotFound } from "@/api/problem";
import { checkpointsQuery } from "@/api/checkpoints";
import type { ComparedRun } from "@/api/types";
import { exact } from "@/ui/format";
import { MORE_SEEDS, type Standing } from "./useMoreSeeds";

interface MoreSeedsButtonProps {
  group: Standing;
  /** The run of the group that is launched with other seeds. */
  like: ComparedRun | undefined;
  launching: boolean;
  onLaunch: () => void;
}

/** Launches more seeds of a group; the button stays reachable where that is not possible, so that the reason can be read. */
export function MoreSeedsButton({ group, like, launching, onLaunch }: MoreSeedsButtonProps) {
  const blocked = useLostCheckpoint(like?.parent ?? null);
  return (
    <Tooltip label={blocked} disabled={blocked === null} multiline maw={320}>
      <Button
        size="compact-xs"
        variant={group.seeds_missing > 0 ? "filled" : "default"}
        disabled={launching}
        aria-disabled={blocked !== null}
        data-disabled={blocked !== null || undefined}
        aria-label={`Add ${MORE_SEEDS} seeds of ${group.name}`}
        onClick={blocked === null ? onLaunch : undefined}
      >
        Add {MORE_SEEDS} seeds
      </Button>
    </Tooltip>
  );
}

/** Why a run cannot be forked again from where it began; null where it can be, and of one that is no fork. */
function useLostCheckpoint(parent: ComparedRun["parent"]): string | null {
  const { data, error } = useQuery({ ...checkpointsQuery(parent?.run_id ?? 0), enabled: parent !== null });
  if (parent === null) return null;
  const begun = `These runs were forked from run ${parent.run_id}`;
  if (isNotFound(error)) return `${begun}, which was purged.`;
  if (!data || data.some(({ id, available }) => id === parent.checkpoint_id && available)) return null;
  return `${begun} at ${exact(parent.step, "steps")}, and that checkpoint is no longer kept.`;
}
