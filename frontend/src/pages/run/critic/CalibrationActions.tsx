import { useCancelCalibration, useDeleteCalibration } from "@/api/calibrations";
import { isUnfinished } from "@/api/jobs";
import type { Calibration } from "@/api/types";
import { notifyDone } from "@/ui/notify";
import { JobActions } from "../JobPage";
import { calibrationName } from "./words";

interface ActionsProps {
  calibration: Calibration;
  onRemoved?: () => void;
}

/** Actions for a calibration. */
export function CalibrationActions({ calibration, onRemoved }: ActionsProps) {
  const name = calibrationName(calibration);
  const cancel = useCancelCalibration(calibration.run_id);
  const remove = useDeleteCalibration(calibration.run_id, () => {
    notifyDone(`Calibration at ${name} removed.`);
    onRemoved?.();
  });
  return (
    <JobActions
      job={calibration}
      noun="calibration"
      name={`calibration at ${name}`}
      cancel={cancel}
      remove={remove}
      results={{ path: `/export/calibrations/${calibration.id}.csv`, label: "Export all decisions (CSV)" }}
    >
      Calibration at {name}:{" "}
      {isUnfinished(calibration) ? "this stops it." : "this permanently deletes its results."} The checkpoint
      is kept.
    </JobActions>
  );
}
