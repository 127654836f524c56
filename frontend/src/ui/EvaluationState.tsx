import type { Evaluation } from "@/api/types";
import { JobState } from "./JobState";

type Progress = Pick<Evaluation, "state" | "episodes_done" | "episodes_total">;

/** State of an evaluation, and its progress while it is played. */
export function EvaluationState({ evaluation }: { evaluation: Progress }) {
  const { state, episodes_done, episodes_total } = evaluation;
  return (
    <JobState
      state={state}
      running="Playing"
      done={episodes_done}
      total={episodes_total}
      noun="episode"
      label="Episodes played"
    />
  );
}
