import type { Evaluation } from "@/api/types";
import { duration } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import { describeOrigin } from "./jobWords";

interface JobTimesProps {
  job: Pick<Evaluation, "origin" | "created_at" | "started_at" | "finished_at">;
}

/** Origin, time and duration of an evaluation or a calibration, as items of a description list. */
export function JobTimes({ job }: JobTimesProps) {
  const { created_at, started_at, finished_at } = job;
  return (
    <>
      <dt>Requested</dt>
      <dd>
        {describeOrigin(job)}, <TimeAgo time={created_at} />
      </dd>
      {started_at && finished_at && (
        <>
          <dt>Duration</dt>
          <dd>{duration((Date.parse(finished_at) - Date.parse(started_at)) / 1000)}</dd>
        </>
      )}
    </>
  );
}
