import { Anchor, Badge, Button, Group, Table, Text } from "@mantine/core";
import { IconTrophy } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { evaluationsQuery } from "@/api/evaluations";
import type { Evaluation, Run } from "@/api/types";
import { DownloadCsv } from "@/ui/DownloadCsv";
import { exact, formatInterval, humanPercent, plural, score, short } from "@/ui/format";
import { JobState } from "@/ui/JobState";
import { JobList, JobRow, RequestedCell, SupersededBadge } from "../JobList";
import jobClasses from "../jobs.module.css";
import runClasses from "../run.module.css";
import { EvaluateModal } from "./EvaluateModal";
import { EvaluationActions } from "./EvaluationActions";
import { EvaluationsChart } from "./EvaluationsChart";
import { describePlayed, formatActing } from "./words";

const COLUMNS = [
  { name: "Checkpoint" },
  { name: "Protocol", wide: true },
  {
    name: "Score",
    hint: "Mean, and its 95 % interval",
    right: true,
  },
  { name: "Human-normalized", hint: "0 % is random play, 100 % is a human", right: true, wide: true },
  { name: "Episodes", right: true, wide: true },
];

/** All evaluations of a run, as a chart and as a table. */
export function EvaluationList({ run }: { run: Run }) {
  const query = useInfiniteQuery(evaluationsQuery(run.id));
  const first = query.data?.pages[0];
  return (
    <JobList
      run={run}
      noun="evaluation"
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
      columns={COLUMNS}
      row={(evaluation) => (
        <EvaluationRow run={run} evaluation={evaluation} best={evaluation.id === first?.best?.id} />
      )}
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

interface RowProps {
  run: Run;
  evaluation: Evaluation;
  best: boolean;
}

/** Table row of an evaluation. */
function EvaluationRow({ run, evaluation, best }: RowProps) {
  return (
    <JobRow job={evaluation} columns={COLUMNS}>
      <Table.Td>
        <Group gap="4px 8px">
          <Anchor
            component={Link}
            to={`/runs/${run.id}/evaluations/${evaluation.id}`}
            size="sm"
            title={exact(evaluation.step, "steps")}
          >
            {short(evaluation.step, "steps")}
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
          {evaluation.superseded && <SupersededBadge />}
        </Group>
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          {describePlayed(evaluation)}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        {evaluation.protocol}
        <Text size="xs" c="dimmed">
          {formatActing(evaluation.acting)}
        </Text>
      </Table.Td>
      <Table.Td ta="right">
        {evaluation.mean === null ? "–" : <span className={jobClasses.mean}>{score(evaluation.mean)}</span>}
        {evaluation.interval && (
          <Text size="xs" c="dimmed" title="95 % interval of the mean">
            {formatInterval(evaluation.interval)}
          </Text>
        )}
        {evaluation.human_normalized !== null && (
          <Text size="xs" c="dimmed" hiddenFrom="sm">
            {humanPercent(evaluation.human_normalized)} human-normalized
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right" visibleFrom="sm">
        <NormalizedScore evaluation={evaluation} />
      </Table.Td>
      <Table.Td ta="right" visibleFrom="sm">
        {evaluation.episodes_total}
      </Table.Td>
      <RequestedCell job={evaluation} />
      <Table.Td>
        <JobState job={evaluation} kind="evaluation" />
      </Table.Td>
      <Table.Td>
        <EvaluationActions evaluation={evaluation} />
      </Table.Td>
    </JobRow>
  );
}

function NormalizedScore({ evaluation }: { evaluation: Evaluation }) {
  const { human_normalized, normalized_by, not_normalized_because } = evaluation;
  if (human_normalized === null) return <span title={not_normalized_because ?? undefined}>–</span>;
  return (
    <>
      {humanPercent(human_normalized)}
      <Text size="xs" c="dimmed">
        {normalized_by?.source}, {normalized_by?.table}
      </Text>
    </>
  );
}
