import { useCancelEvaluation, useDeleteEvaluation } from "@/api/evaluations";
import { isUnfinished } from "@/api/jobs";
import type { Evaluation } from "@/api/types";
import { evaluationName } from "@/ui/evaluationName";
import { plural } from "@/ui/format";
import { notifyDone } from "@/ui/notify";
import { JobActions } from "../JobPage";
import { formatMean } from "./words";

interface ActionsProps {
  evaluation: Evaluation;
  onRemoved?: () => void;
}

/** Actions for an evaluation. */
export function EvaluationActions({ evaluation, onRemoved }: ActionsProps) {
  const name = evaluationName(evaluation);
  const cancel = useCancelEvaluation(evaluation.run_id);
  const remove = useDeleteEvaluation(evaluation.run_id, () => {
    notifyDone(`Evaluation by ${name} removed.`);
    onRemoved?.();
  });
  return (
    <JobActions
      job={evaluation}
      noun="evaluation"
      name={`evaluation by ${name}`}
      cancel={cancel}
      remove={remove}
      results={{ path: `/export/evaluations/${evaluation.id}.csv`, label: "Export all episodes (CSV)" }}
    >
      Evaluation by {name}, {plural(evaluation.episodes_total, "episode")}
      {evaluation.mean !== null && `, score ${formatMean(evaluation)}`}:{" "}
      {isUnfinished(evaluation)
        ? "this stops it and permanently deletes its episodes."
        : "this permanently deletes its scores."}{" "}
      The checkpoint is kept.
    </JobActions>
  );
}
