import { Anchor, Badge, Group, Table, Text } from "@mantine/core";
import { Link } from "react-router";
import type { Evaluation, Run } from "@/api/types";
import { EvaluationState } from "@/ui/EvaluationState";
import { exact, humanPercent, short } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import { Reason } from "@/ui/Reason";
import { EvaluationActions } from "./EvaluationActions";
import classes from "./evaluations.module.css";
import { actingName, intervalText, LEFT_BEHIND, meanWords, playedWords } from "./words";

const COLUMNS = 8;

interface RowProps {
  run: Run;
  evaluation: Evaluation;
  best: boolean;
}

/** One evaluation of the list, and below it why it waits or has failed. */
export function EvaluationRow({ run, evaluation, best }: RowProps) {
  const told = evaluation.reason !== null || evaluation.traceback !== null;
  return (
    <>
      <Table.Tr className={classes.row} data-told={told || undefined}>
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
                title="The best of all whole evaluations by the run's protocol"
              >
                best
              </Badge>
            )}
            {evaluation.superseded && (
              <Badge size="sm" tt="none" variant="default" style={{ flex: "none" }} title={LEFT_BEHIND}>
                counts no longer
              </Badge>
            )}
          </Group>
          <Text size="xs" c="dimmed" hiddenFrom="sm">
            {playedWords(evaluation)}
          </Text>
        </Table.Td>
        <Table.Td visibleFrom="sm">
          {evaluation.protocol}
          <Text size="xs" c="dimmed">
            {actingName(evaluation.acting)}
          </Text>
        </Table.Td>
        <Table.Td ta="right">
          {evaluation.mean === null ? "–" : <span className={classes.mean}>{meanWords(evaluation)}</span>}
          {evaluation.interval && (
            <Text size="xs" c="dimmed" title="95 % interval of the mean">
              {intervalText(evaluation.interval)}
            </Text>
          )}
          {evaluation.human_normalised !== null && (
            <Text size="xs" c="dimmed" hiddenFrom="sm">
              {humanPercent(evaluation.human_normalised)} human-normalized
            </Text>
          )}
        </Table.Td>
        <Table.Td ta="right" visibleFrom="sm">
          <Normalised evaluation={evaluation} />
        </Table.Td>
        <Table.Td ta="right" visibleFrom="sm">
          {evaluation.episodes_total}
        </Table.Td>
        <Table.Td visibleFrom="sm">
          <TimeAgo time={evaluation.created_at} />
          <Text size="xs" c="dimmed">
            {evaluation.origin === "schedule" ? "by schedule" : "by hand"}
          </Text>
        </Table.Td>
        <Table.Td>
          <EvaluationState evaluation={evaluation} />
        </Table.Td>
        <Table.Td>
          <EvaluationActions evaluation={evaluation} />
        </Table.Td>
      </Table.Tr>
      {told && (
        <Table.Tr className={classes.row}>
          <Table.Td colSpan={COLUMNS} className={classes.reason}>
            <Reason of={evaluation} />
          </Table.Td>
        </Table.Tr>
      )}
    </>
  );
}

function Normalised({ evaluation }: { evaluation: Evaluation }) {
  const { human_normalised, normalised_by, not_normalised_because } = evaluation;
  if (human_normalised === null) return <span title={not_normalised_because ?? undefined}>–</span>;
  return (
    <>
      {humanPercent(human_normalised)}
      <Text size="xs" c="dimmed">
        {normalised_by?.source}, {normalised_by?.table}
      </Text>
    </>
  );
}
