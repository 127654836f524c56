import { useParams } from "react-router";
import type { Run } from "@/api/types";
import { EvaluationDetail } from "./EvaluationDetail";
import { EvaluationList } from "./EvaluationList";

/** /runs/12/evaluations: what the checkpoints of a run are worth; with a number behind it, one evaluation. */
export function EvaluationsTab({ run }: { run: Run }) {
  const { item } = useParams();
  return item === undefined ? (
    <EvaluationList run={run} />
  ) : (
    <EvaluationDetail key={item} run={run} written={item} />
  );
}
