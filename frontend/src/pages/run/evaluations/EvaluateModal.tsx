import { Modal, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { checkpointsQuery } from "@/api/checkpoints";
import { evaluationChoicesQuery } from "@/api/evaluations";
import type { Checkpoint, Run } from "@/api/types";
import { short } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { EvaluateForm } from "./EvaluateForm";

interface EvaluateModalProps {
  run: Run;
  /** The initial choice. By default, the newest. */
  checkpoint?: Checkpoint;
  onClose: () => void;
}

/** Dialog that requests an evaluation of a checkpoint. */
export function EvaluateModal({ run, checkpoint, onClose }: EvaluateModalProps) {
  const choices = useQuery(evaluationChoicesQuery(run.id));
  const checkpoints = useQuery(checkpointsQuery(run.id));
  const failed = [choices, checkpoints].find((query) => query.isError && query.data === undefined);
  return (
    <Modal
      opened
      onClose={onClose}
      size="lg"
      title={
        checkpoint ? `Evaluate the checkpoint at ${short(checkpoint.step, "steps")}` : "Evaluate checkpoint"
      }
      closeButtonProps={{ "aria-label": "Close" }}
    >
      {failed && <QueryError error={failed.error} retry={() => void failed.refetch()} />}
      {!failed && !(choices.data && checkpoints.data) && <Text c="dimmed">Loading form…</Text>}
      {choices.data && checkpoints.data && (
        <EvaluateForm
          run={run}
          choices={choices.data}
          checkpoints={checkpoints.data}
          chosen={checkpoint}
          onClose={onClose}
        />
      )}
    </Modal>
  );
}
