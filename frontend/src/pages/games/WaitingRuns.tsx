import { Anchor, Button, Group, Table, Text, Title } from "@mantine/core";
import { Link } from "react-router";
import { useRequestEvaluation } from "@/api/evaluations";
import type { Game, WaitingRun } from "@/api/types";
import { evaluationName } from "@/ui/evaluationName";
import { exact, short } from "@/ui/format";
import { JobState } from "@/ui/JobState";
import { NoPlayer } from "@/ui/NoPlayer";
import { notifyDone, notifyProblem } from "@/ui/notify";
import { Reason } from "@/ui/Reason";
import { RunDot } from "@/ui/RunDot";
import { STATE_NAMES } from "@/ui/states";
import { TextWithCode } from "@/ui/TextWithCode";
import classes from "./games.module.css";

/** Runs without a score, with an evaluate button or the reason. */
export function WaitingRuns({ game }: { game: Game }) {
  const { waiting, waiting_total: total } = game;
  if (total === 0) return null;
  return (
    <section className={classes.card} aria-label="Runs without a score">
      <Title order={2}>Runs without a score</Title>
      <Text size="sm" c="dimmed" mt={4} mb={8} maw={860}>
        A worker plays the protocol's episodes from the newest checkpoint while it trains.
        {total > waiting.length && ` Newest ${waiting.length} of ${exact(total)} shown.`}
      </Text>
      {waiting.some(needsPlayer) && <NoPlayer />}
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
            <WaitingRow key={run.id} run={run} />
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

/** Return true if the run needs a worker for its evaluation. */
const needsPlayer = ({ has_checkpoint, evaluation }: WaitingRun) =>
  has_checkpoint || evaluation?.state === "queued";

/** Row of a run without a score, with the state of its evaluation. */
function WaitingRow({ run }: { run: WaitingRun }) {
  const { evaluation } = run;
  return (
    <>
      <Table.Tr data-evaluated={evaluation !== null || undefined}>
        <Table.Td>
          <div className={classes.player}>
            <RunDot run={run} />
            <span>
              <Link to={`/runs/${run.id}`}>{run.name}</Link> <span className={classes.dim}>#{run.id}</span>
            </span>
          </div>
          <div className={classes.dim}>
            {run.method} · {STATE_NAMES[run.state]} · {short(run.step, "steps")}
          </div>
        </Table.Td>
        <Table.Td>
          <Group gap="4px 12px" justify="flex-end">
            {evaluation && <JobState job={evaluation} kind="evaluation" />}
            {(evaluation === null || evaluation.state === "failed") && <Evaluate run={run} />}
          </Group>
        </Table.Td>
      </Table.Tr>
      {evaluation && (
        <Table.Tr>
          <Table.Td colSpan={2}>
            <div className={classes.reason}>
              <Anchor component={Link} to={`/runs/${run.id}/evaluations/${evaluation.id}`} size="xs">
                Evaluation by {evaluationName(evaluation)}
              </Anchor>
              <Reason of={evaluation} />
            </div>
          </Table.Td>
        </Table.Tr>
      )}
    </>
  );
}

function Evaluate({ run }: { run: WaitingRun }) {
  const ask = useRequestEvaluation(run.id);
  const evaluate = () =>
    ask.mutate(
      { checkpoint: "newest", seed: 1 },
      {
        onSuccess: (asked) =>
          notifyDone(
            <TextWithCode>{`Requested an evaluation by ${evaluationName(asked)}. ${asked.reason ?? ""}`}</TextWithCode>,
          ),
        onError: notifyProblem,
      },
    );
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
