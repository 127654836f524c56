import { Button, Group, Stack, Table, Text, VisuallyHidden } from "@mantine/core";
import { IconTrophy } from "@tabler/icons-react";
import { useDisclosure } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { evaluationsQuery } from "@/api/evaluations";
import { isUnfinished } from "@/api/jobs";
import type { Evaluation, Run } from "@/api/types";
import { BlockableButton } from "@/ui/BlockableButton";
import { EmptyState } from "@/ui/EmptyState";
import { plural } from "@/ui/format";
import { NoPlayer } from "@/ui/NoPlayer";
import { QueryError } from "@/ui/QueryError";
import { DownloadCsv } from "@/ui/DownloadCsv";
import { WideTable } from "@/ui/WideTable";
import jobClasses from "../jobs.module.css";
import runClasses from "../run.module.css";
import { EvaluateModal } from "./EvaluateModal";
import { EvaluationRow } from "./EvaluationRow";
import { EvaluationsChart } from "./EvaluationsChart";

/** All evaluations of a run, as a chart and as a table. */
export function EvaluationList({ run }: { run: Run }) {
  const query = useInfiniteQuery(evaluationsQuery(run.id));
  const [isFormOpen, form] = useDisclosure(false);
  if (query.isError && !query.data) {
    return <QueryError error={query.error} retry={() => void query.refetch()} />;
  }
  if (!query.data) return <Text c="dimmed">Loading evaluations…</Text>;
  const [first] = query.data.pages;
  const evaluations = query.data.pages.flatMap(({ items }) => items);
  return (
    <Stack gap="md">
      {evaluations.length === 0 ? (
        <EmptyState icon={IconTrophy} title="No evaluations yet">
          <Text mb="md">
            An evaluation plays episodes from a checkpoint under fixed rules. Its score can be compared with
            other runs and with the papers.
          </Text>
          <BlockableButton blocked={run.actions.play} onClick={form.open}>
            Evaluate checkpoint
          </BlockableButton>
        </EmptyState>
      ) : (
        <>
          <Group justify="space-between" gap="sm">
            <Text size="sm" c="dimmed">
              {plural(first?.total ?? 0, "evaluation")} of this run's checkpoints
            </Text>
            <Group gap="xs">
              <DownloadCsv from={`/export/runs/${run.id}/evaluations.csv`} />
              <Button component={Link} to={`/runs/${run.id}/critic`} variant="default" size="xs">
                Calibrate critic
              </Button>
              <BlockableButton blocked={run.actions.play} size="xs" onClick={form.open}>
                Evaluate checkpoint
              </BlockableButton>
            </Group>
          </Group>
          {evaluations.some(isUnfinished) && <NoPlayer />}
          <div className={runClasses.card}>
            <EvaluationsChart run={run} />
          </div>
          <EvaluationTable run={run} evaluations={evaluations} best={first?.best?.id} />
          {query.hasNextPage && (
            <Button
              variant="default"
              mx="auto"
              loading={query.isFetchingNextPage}
              onClick={() => void query.fetchNextPage()}
            >
              Show earlier
            </Button>
          )}
        </>
      )}
      {isFormOpen && <EvaluateModal run={run} onClose={form.close} />}
    </Stack>
  );
}

interface TableProps {
  run: Run;
  evaluations: readonly Evaluation[];
  best: number | undefined;
}

function EvaluationTable({ run, evaluations, best }: TableProps) {
  return (
    <WideTable label="Table of evaluations" className={runClasses.card}>
      <Table verticalSpacing={8} className={`${runClasses.oneLine} ${jobClasses.table}`}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Checkpoint</Table.Th>
            <Table.Th visibleFrom="sm">Protocol</Table.Th>
            <Table.Th ta="right" title="Mean ± standard error of the mean, and the 95 % interval of the mean">
              Score
            </Table.Th>
            <Table.Th ta="right" visibleFrom="sm" title="0 % is random play, 100 % is a human">
              Human-normalized
            </Table.Th>
            <Table.Th ta="right" visibleFrom="sm">
              Episodes
            </Table.Th>
            <Table.Th visibleFrom="sm">Requested</Table.Th>
            <Table.Th>State</Table.Th>
            <Table.Th>
              <VisuallyHidden>Actions</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {evaluations.map((evaluation) => (
            <EvaluationRow
              key={evaluation.id}
              run={run}
              evaluation={evaluation}
              best={evaluation.id === best}
            />
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}
