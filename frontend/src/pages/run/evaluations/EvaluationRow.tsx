import { Anchor, Badge, Group, Table, Text } from "@mantine/core";
import { Link } from "react-router";
import type { Evaluation, Run } from "@/api/types";
import { EvaluationState } from "@/ui/EvaluationState";
import { exact, formatInterval, humanPercent, short } from "@/ui/format";
import { JobRow, RequestedCell, SupersededBadge } from "../JobRow";
import jobClasses from "../jobs.module.css";
import { EvaluationActions } from "./EvaluationActions";
import { formatActing, formatMean, describePlayed } from "./words";

const COLUMN_COUNT = 8;

interface RowProps {
  run: Run;
  evaluation: Evaluation;
  best: boolean;
}

/** Table row of an evaluation. */
export function EvaluationRow({ run, evaluation, best }: RowProps) {
  return (
    <JobRow job={evaluation} columnCount={COLUMN_COUNT}>
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
        {evaluation.mean === null ? "–" : <span className={jobClasses.mean}>{formatMean(evaluation)}</span>}
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
        <EvaluationState evaluation={evaluation} />
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
