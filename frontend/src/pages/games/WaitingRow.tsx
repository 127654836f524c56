import { Anchor, Button, Group, Table } from "@mantine/core";
import { Link } from "react-router";
import { useRequestEvaluation } from "@/api/evaluations";
import type { WaitingRun } from "@/api/types";
import { evaluationName } from "@/ui/evaluationName";
import { JobState } from "@/ui/JobState";
import { short } from "@/ui/format";
import { notifyDone, notifyProblem } from "@/ui/notify";
import { Reason } from "@/ui/Reason";
import { RunDot } from "@/ui/RunDot";
import { STATE_NAMES } from "@/ui/states";
import { TextWithCode } from "@/ui/TextWithCode";
import classes from "./games.module.css";

/** Row of a run without a score, with the state of its evaluation. */
export function WaitingRow({ run }: { run: WaitingRun }) {
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
