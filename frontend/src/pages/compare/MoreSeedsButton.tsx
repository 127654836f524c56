import { useQuery } from "@tanstack/react-query";
import { isNotFound } from "@/api/problem";
import { checkpointsQuery } from "@/api/checkpoints";
import type { ComparedRun } from "@/api/types";
import { BlockableButton } from "@/ui/BlockableButton";
import { exact } from "@/ui/format";
import { unsupportedReason } from "@/ui/states";
import { MORE_SEEDS, type Standing } from "./useMoreSeeds";

interface MoreSeedsButtonProps {
  group: Standing;
  /** Run of the group to copy with other seeds. */
  like: ComparedRun | undefined;
  launching: boolean;
  onLaunch: () => void;
}

/** Button that launches more seeds of a group. */
export function MoreSeedsButton({ group, like, launching, onLaunch }: MoreSeedsButtonProps) {
  const lostCheckpoint = useLostCheckpoint(like?.parent ?? null);
  return (
    <BlockableButton
      blocked={(like && unsupportedReason(like)) ?? lostCheckpoint}
      size="compact-xs"
      variant={group.seeds_missing > 0 ? "filled" : "default"}
      disabled={launching}
      aria-label={`Add ${MORE_SEEDS} seeds of ${group.name}`}
      onClick={onLaunch}
    >
      Add {MORE_SEEDS} seeds
    </BlockableButton>
  );
}

/** Return why a fork's checkpoint is not available any more, or null. */
function useLostCheckpoint(parent: ComparedRun["parent"]): string | null {
  const { data, error } = useQuery({
    ...checkpointsQuery(parent?.run_id ?? 0),
    enabled: parent?.run_id != null,
  });
  if (parent === null) return null;
  if (parent.run_id === null) return "These runs were forked from a run to which you have no access.";
  const begun = `These runs were forked from run ${parent.run_id}`;
  if (isNotFound(error)) return `${begun}, which was purged.`;
  if (!data || data.some(({ id, available }) => id === parent.checkpoint_id && available)) return null;
  return `${begun} at ${exact(parent.step, "steps")}, and that checkpoint is no longer stored.`;
}
