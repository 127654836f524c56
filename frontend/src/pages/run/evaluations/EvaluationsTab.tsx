import { useParams } from "react-router";
import type { Run } from "@/api/types";
import { EvaluationDetail } from "./EvaluationDetail";
import { EvaluationList } from "./EvaluationList";

/** List of a run's evaluations, or one evaluation if the URL names it. */
export function EvaluationsTab({ run }: { run: Run }) {
  const { item } = useParams();
  return item === undefined ? (
    <EvaluationList run={run} />
  ) : (
    <EvaluationDetail key={item} run={run} idText={item} />
  );
}
