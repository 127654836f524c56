import { Anchor, Badge, Button, Group, Text } from "@mantine/core";
import { IconTrophy } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useParams } from "react-router";
import { evaluationsQuery } from "@/api/evaluations";
import type { Evaluation, Run } from "@/api/types";
import { DownloadCsv } from "@/ui/DownloadCsv";
import { exact, formatInterval, humanPercent, plural, score, short } from "@/ui/format";
import { type JobColumn, JobList, SupersededBadge } from "../JobList";
import { EvaluateModal } from "./EvaluateModal";
import { EvaluationActions, EvaluationDetail } from "./EvaluationDetail";
import { EvaluationsChart } from "./EvaluationsChart";
import { describePlayed, formatActing } from "./words";
import jobClasses from "../jobs.module.css";
import runClasses from "../run.module.css";

/** List of a run's evaluations, or one evaluation if the URL names it. */
export function EvaluationsTab({ run }: { run: Run }) {
  const { item } = useParams();
  return item === undefined ? (
    <EvaluationList run={run} />
  ) : (
    <EvaluationDetail key={item} run={run} idText={item} />
  );
}

/** All evaluations of a run, as a chart and as a table. */
export function EvaluationList({ run }: { run: Run }) {
  const query = useInfiniteQuery(evaluationsQuery(run.id));
  const first = query.data?.pages[0];
  const checkpoint: JobColumn<Evaluation> = {
    name: "Checkpoint",
    cell: (evaluation) => <CheckpointCell evaluation={evaluation} best={evaluation.id === first?.best?.id} />,
  };
  return (
    <JobList
      run={run}
      kind="evaluation"
      query={query}
      jobs={query.data?.pages.flatMap(({ items }) => items)}
      empty={{
        icon: IconTrophy,
        text: "An evaluation plays episodes from a checkpoint under fixed rules. Its score can be compared with other runs and with the papers.",
      }}
      action="Evaluate checkpoint"
      summary={
        <Text span size="sm" c="dimmed">
          {plural(first?.total ?? 0, "evaluation")} of this run's checkpoints
        </Text>
      }
      tools={
        <>
          <DownloadCsv from={`/export/runs/${run.id}/evaluations.csv`} />
          <Button component={Link} to={`/runs/${run.id}/critic`} variant="default" size="xs">
            Calibrate critic
          </Button>
        </>
      }
      charts={
        <div className={runClasses.card}>
          <EvaluationsChart run={run} />
        </div>
      }
      columns={[checkpoint, ...COLUMNS]}
      actions={(evaluation) => <EvaluationActions evaluation={evaluation} />}
      more={
        query.hasNextPage && (
          <Button
            variant="default"
            mx="auto"
            loading={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            Show earlier
          </Button>
        )
      }
      modal={(close) => <EvaluateModal run={run} onClose={close} />}
    />
  );
}

function CheckpointCell({ evaluation, best }: { evaluation: Evaluation; best: boolean }) {
  const { id, run_id, step, superseded } = evaluation;
  return (
    <>
      <Group gap="4px 8px">
        <Anchor
          component={Link}
          to={`/runs/${run_id}/evaluations/${id}`}
          size="sm"
          title={exact(step, "steps")}
        >
          {short(step, "steps")}
        </Anchor>
        {best && (
          <Badge
            size="sm"
            tt="none"
            style={{ flex: "none" }}
            title="Best complete evaluation by the run's protocol"
          >
            best
          </Badge>
        )}
        {superseded && <SupersededBadge />}
      </Group>
      <Text size="xs" c="dimmed" hiddenFrom="sm">
        {describePlayed(evaluation)}
      </Text>
    </>
  );
}

const COLUMNS: readonly JobColumn<Evaluation>[] = [
  {
    name: "Protocol",
    wide: true,
    cell: ({ protocol, acting }) => (
      <>
        {protocol}
        <Text size="xs" c="dimmed">
          {formatActing(acting)}
        </Text>
      </>
    ),
  },
  {
    name: "Score",
    hint: "Mean, and its 95 % interval",
    right: true,
    cell: ({ mean, interval, human_normalized }) => (
      <>
        {mean === null ? "–" : <span className={jobClasses.mean}>{score(mean)}</span>}
        {interval && (
          <Text size="xs" c="dimmed" title="95 % interval of the mean">
            {formatInterval(interval)}
          </Text>
        )}
        {human_normalized !== null && (
          <Text size="xs" c="dimmed" hiddenFrom="sm">
            {humanPercent(human_normalized)} human-normalized
          </Text>
        )}
      </>
    ),
  },
  {
    name: "Human-normalized",
    hint: "0 % is random play, 100 % is a human",
    right: true,
    wide: true,
    cell: ({ human_normalized, normalized_by, not_normalized_because }) =>
      human_normalized === null ? (
        <span title={not_normalized_because ?? undefined}>–</span>
      ) : (
        <>
          {humanPercent(human_normalized)}
          <Text size="xs" c="dimmed">
            {normalized_by?.source}, {normalized_by?.table}
          </Text>
        </>
      ),
  },
  { name: "Episodes", right: true, wide: true, cell: ({ episodes_total }) => episodes_total },
];
