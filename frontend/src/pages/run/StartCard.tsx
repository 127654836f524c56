import { Title } from "@mantine/core";
import type { Run } from "@/api/types";
import { duration } from "@/ui/format";
import { isActive } from "@/ui/states";
import { useNow } from "@/ui/useNow";
import classes from "./run.module.css";

type StartingRun = Pick<Run, "state" | "start_steps">;

/** Return true from the queue until the first update. */
export function isStarting(run: StartingRun): boolean {
  return isActive(run) && run.start_steps.some((step) => step.ended_at === null);
}

/** Start steps of a run, from the queue to the first update, each with its duration so far. */
export function StartCard({ run }: { run: StartingRun }) {
  const now = useNow();
  return (
    <section className={classes.card} aria-label="Start">
      <Title order={2} mb="xs">
        Start
      </Title>
      <ol className={classes.startSteps}>
        {run.start_steps.map(({ name, began_at, ended_at }) => (
          <li key={`${began_at} ${name}`} aria-current={ended_at === null ? "step" : undefined}>
            <span>{name}</span>
            <span className={classes.startTime}>
              {duration(((ended_at ? Date.parse(ended_at) : now) - Date.parse(began_at)) / 1000)}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
