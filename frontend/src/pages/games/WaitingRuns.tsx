import { Button, Table, Text, Title } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "react-router";
import { useAskEvaluation } from "@/api/mutations";
import type { Game, WaitingRun } from "@/api/types";
import { plural, short } from "@/ui/format";
import { notifyDone, notifyProblem } from "@/ui/notify";
import { RunDot } from "@/ui/RunDot";
import { STATE_NAMES } from "@/ui/states";
import classes from "./games.module.css";

/** Runs without a score, each with what gives it one. */
export function WaitingRuns({ game }: { game: Game }) {
  const { waiting, waiting_total: total } = game;
  if (total === 0) return null;
  return (
    <section className={classes.card} aria-label="Runs without a score">
      <Title order={2}>Runs without a score</Title>
      <Text size="sm" c="dimmed" mt={4} maw={860}>
        A worker plays the episodes of the run's protocol from its newest checkpoint, beside what it trains.
        {total > waiting.length && ` These are the newest ${waiting.length} of ${total}.`}
      </Text>
      <Table className={classes.ranking} verticalSpacing={6} horizontalSpacing="xs" mt={8}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Run</Table.Th>
            <Table.Th scope="col" ta="right">
              Score
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {waiting.map((run) => (
            <Table.Tr key={run.id}>
              <Table.Td>
                <div className={classes.player}>
                  <RunDot run={run} />
                  <span>
                    <Link to={`/runs/${run.id}`}>{run.name}</Link>{" "}
                    <span className={classes.dim}>#{run.id}</span>
                  </span>
                </div>
                <div className={classes.dim}>
                  {run.method} · {STATE_NAMES[run.state]} · {short(run.step, "steps")}
                </div>
              </Table.Td>
              <Table.Td ta="right">
                <Evaluate run={run} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

function Evaluate({ run }: { run: WaitingRun }) {
  const client = useQueryClient();
  const ask = useAskEvaluation(run.id);
  const evaluate = () =>
    ask.mutate(
      { checkpoint: "newest", seed: 1 },
      {
        onSuccess: ({ episodes_total, protocol }) =>
          notifyDone(`A worker will play ${plural(episodes_total, "episode")} by ${protocol}.`),
        onError: notifyProblem,
        onSettled: () => client.invalidateQueries({ queryKey: ["games"] }),
      },
    );
  if (run.evaluation) {
    return (
      <span className={classes.dim}>
        {run.evaluation === "running" ? "Being evaluated" : "Waits for a worker"}
      </span>
    );
  }
  if (!run.has_checkpoint) return <span className={classes.dim}>No checkpoint yet</span>;
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={ask.isPending}
      onClick={evaluate}
      aria-label={`Evaluate ${run.name} #${run.id}`}
    >
      Evaluate
    </Button>
  );
}
