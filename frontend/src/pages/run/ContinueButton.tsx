import { IconPlayerPlay } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { isSubmitted } from "@/api/mutationState";
import { useForkRun } from "@/api/runs";
import { checkpointsQuery } from "@/api/checkpoints";
import type { Run } from "@/api/types";
import { BlockableButton } from "@/ui/BlockableButton";
import { short } from "@/ui/format";
import { notifyDone, notifyProblem } from "@/ui/notify";
import { unsupportedReason } from "@/ui/states";

/** Button that continues an ended run from its last checkpoint as a new run. Empty without a checkpoint. */
export function ContinueButton({ run }: { run: Run }) {
  const { data: checkpoints = [] } = useQuery(checkpointsQuery(run.id));
  const fork = useForkRun();
  const navigate = useNavigate();
  const [last] = checkpoints
    .filter(({ available, file_id, step }) => available && file_id !== null && step < (run.total_steps ?? 0))
    .toSorted((a, b) => b.step - a.step || b.id - a.id);
  if (!last) return null;

  const continueRun = () =>
    fork.mutate(
      { id: run.id, checkpoint_id: last.id },
      {
        onSuccess(child) {
          notifyDone(`Run ${child.id} continues run ${run.id}.`);
          void navigate(`/runs/${child.id}`);
        },
        onError: notifyProblem,
      },
    );
  return (
    <BlockableButton
      blocked={unsupportedReason(run)}
      tooltip="Launches a new run with the same settings from the last checkpoint"
      size="xs"
      leftSection={<IconPlayerPlay size={14} aria-hidden />}
      loading={isSubmitted(fork)}
      onClick={continueRun}
    >
      Continue from {short(last.step)}
    </BlockableButton>
  );
}
