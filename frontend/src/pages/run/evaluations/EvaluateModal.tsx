import { useQuery } from "@tanstack/react-query";
import { checkpointsQuery } from "@/api/checkpoints";
import { evaluationChoicesQuery } from "@/api/evaluations";
import type { Checkpoint, Run } from "@/api/types";
import { short } from "@/ui/format";
import { JobModal } from "../JobModal";
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
  return (
    <JobModal
      title={
        checkpoint ? `Evaluate the checkpoint at ${short(checkpoint.step, "steps")}` : "Evaluate checkpoint"
      }
      size="lg"
      queries={[choices, checkpoints]}
      onClose={onClose}
    >
      {choices.data && checkpoints.data && (
        <EvaluateForm
          run={run}
          choices={choices.data}
          checkpoints={checkpoints.data}
          chosen={checkpoint}
          onClose={onClose}
        />
      )}
    </JobModal>
  );
}
