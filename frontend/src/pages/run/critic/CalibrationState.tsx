import type { Calibration } from "@/api/types";
import { JobState } from "@/ui/JobState";

/** State of a calibration, and its progress while decisions are judged. */
export function CalibrationState({ calibration }: { calibration: Calibration }) {
  const { state, moments_done, moments_total } = calibration;
  return (
    <JobState
      state={state}
      running="Calibrating"
      done={moments_done}
      total={moments_total}
      noun="decision"
      label="Decisions judged"
    />
  );
}
