import { Code, Group, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { jobOutputQuery } from "@/api/executors";
import type { Run, SubmissionOfRun } from "@/api/types";
import { duration } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import classes from "./run.module.css";

const OUTPUT_MS = 5_000;
const TITLES: Record<string, string> = { slurm: "Slurm", ray: "Ray" };

/** The latest job of a run on a scheduler, in the scheduler's words, with the end of its output. */
export function SubmissionCard({ run, job }: { run: Run; job: SubmissionOfRun }) {
  const isStarting = run.state === "queued" || run.state === "starting";
  // No notice announces output.
  const { data } = useQuery({
    ...jobOutputQuery(run.id, job.submitted_at),
    refetchInterval: isStarting && job.ended_at === null ? OUTPUT_MS : false,
  });
  const title = TITLES[job.executor] ?? job.executor;
  const facts: readonly [string, React.ReactNode][] = [
    ["Job", job.handle ?? "not accepted yet"],
    ["State", stateText(job)],
    ["Reason", job.reason],
    ["Place", job.place],
    ["Node", job.host],
    ["Submitted", <TimeAgo key="time" time={job.submitted_at} />],
    ["Core time", job.core_seconds === null ? null : duration(job.core_seconds)],
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

/** Return the scheduler's word for the state. A job ends only when its scheduler confirms it. */
function stateText({ state, scheduler_state, unknown_since }: SubmissionOfRun): string {
  const word = scheduler_state ?? "";
  if (unknown_since !== null) return `Unknown${word && `, last ${word}`}`;
  if (state === "cancelling") return `Being cancelled${word && `, still ${word}`}`;
  return word || "Being submitted";
}
