import { Code, Group, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { jobOutputQuery, schedulerTitle } from "@/api/executors";
import type { Run, SubmissionOfRun } from "@/api/types";
import { duration } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import classes from "./run.module.css";

const OUTPUT_MS = 5_000;

/** The latest job of a run on a scheduler, in the scheduler's words, with the end of its output. */
export function SubmissionCard({ run, job }: { run: Run; job: SubmissionOfRun }) {
  const isStarting = run.state === "queued" || run.state === "starting";
  // No notice announces output.
  const { data } = useQuery({
    ...jobOutputQuery(run.id, job.submitted_at),
    refetchInterval: isStarting && job.ended_at === null ? OUTPUT_MS : false,
  });
  const title = schedulerTitle(job.executor);
  const facts: readonly [string, React.ReactNode][] = [
    ["Job", jobText(job)],
    ["State", stateText(job)],
    ["Reason", job.reason],
    ["Options", run.job_options.join(" ") || null],
    ["Place", job.place],
    ["Node", job.host],
    ["Submitted", <TimeAgo key="time" time={job.submitted_at} />],
    ["Core time", usedText(secondsSoFar(job, job.core_seconds, job.cores), run.core_hours)],
    ["GPU time", usedText(secondsSoFar(job, job.gpu_seconds, job.gpus), run.gpu_hours)],
  ];
  return (
    <section className={classes.card} aria-label={`${title} job`}>
      <Group justify="space-between" mb="xs">
        <Title order={2}>{title} job</Title>
      </Group>
      <dl className={classes.pairs}>
        {facts
          .filter(([, fact]) => fact !== null)
          .map(([name, fact]) => (
            <Fact key={name} name={name} fact={fact} />
          ))}
      </dl>
      {data?.output && (
        <>
          <Text size="sm" c="dimmed" mt="xs">
            End of its output
          </Text>
          <Code block mah={240} style={{ overflow: "auto" }} tabIndex={0} aria-label="Output of the job">
            {data.output}
          </Code>
        </>
      )}
    </section>
  );
}

function Fact({ name, fact }: { name: string; fact: React.ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{fact}</dd>
    </>
  );
}

function jobText({ handle, task }: SubmissionOfRun): string {
  if (handle === null) return "not accepted yet";
  return task === null ? handle : `${handle}, task ${task} of an array`;
}

/** Return the time that a job has used, with that of its current start. Null if it has not started. */
function secondsSoFar(job: SubmissionOfRun, ended: number | null, units: number | null): number | null {
  if (job.started_at === null || job.ended_at !== null || units === null) return ended;
  const seconds = (Date.now() - Date.parse(job.started_at)) / 1000;
  return (ended ?? 0) + Math.max(0, seconds) * units;
}

/** Return the time of a job, and that of the run if earlier jobs used some too. Null if none was used. */
function usedText(seconds: number | null, hours: number | null): string | null {
  if (!seconds) return null;
  const all = (hours ?? 0) * 3600;
  return all > seconds + 1 ? `${duration(seconds)}, ${duration(all)} with earlier jobs` : duration(seconds);
}

/** Return the scheduler's word for the state. A job ends only when its scheduler confirms it. */
function stateText({ state, scheduler_state, unknown_since }: SubmissionOfRun): string {
  const word = scheduler_state ?? "";
  if (unknown_since !== null) return `Unknown${word && `, last ${word}`}`;
  if (state === "cancelling") return `Being cancelled${word && `, still ${word}`}`;
  return word || "Being submitted";
}
