import { Button, Tooltip } from "@mantine/core";
import { IconPlayerPlay } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { isSubmitted } from "@/api/mutationState";
import { useForkRun } from "@/api/runs";
import { checkpointsQuery } from "@/api/checkpoints";
import type { Run } from "@/api/types";
import { short } from "@/ui/format";
import { notifyDone, notifyProblem } from "@/ui/notify";

/** Goes on from the last checkpoint of a run that ended early, as a new run; nothing where none is kept. */
export function ContinueButton({ run }: { run: Run }) {
  const { data: checkpoints = [] } = useQuery(checkpointsQuery(run.id));
  const fork = useForkRun();
  const navigate = useNavigate();
  const [last] = checkpoints
    .filter(({ available, file_id, step }) => available && file_id !== null && step < run.total_steps)
    .toSorted((a, b) => b.step - a.step || b.id - a.id);
  if (!last) return null;

  const goOn = () =>
    fork.mutate(
      { id: run.id, checkpoint_id: last.id },
      {
        onSuccess(child) {
          notifyDone(`Run ${child.id} goes on from run ${run.id}.`);
          void navigate(`/runs/${child.id}`);
        },
        onError: notifyProblem,
      },
    );
  return (
    <Tooltip label="Launches a new run with the same settings from the last checkpoint.">
      <Button
        size="xs"
        leftSection={<IconPlayerPlay size={14} aria-hidden />}
        loading={isSubmitted(fork)}
        onClick={goOn}
      >
        Continue from {short(last.step)}
      </Button>
    </Tooltip>
  );
}
