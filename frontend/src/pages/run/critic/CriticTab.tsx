import { useParams } from "react-router";
import type { Run } from "@/api/types";
import { CalibrationDetail } from "./CalibrationDetail";
import { CalibrationList } from "./CalibrationList";

/** List of a run's calibrations, or one calibration if the URL names it. */
export function CriticTab({ run }: { run: Run }) {
  const { item } = useParams();
  return item === undefined ? (
    <CalibrationList run={run} />
  ) : (
    <CalibrationDetail key={item} run={run} idText={item} />
  );
}
