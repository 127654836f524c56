import { Badge, Group, Stack, Table, Text, VisuallyHidden } from "@mantine/core";
import { IconDeviceFloppy } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { usePinCheckpoint, checkpointsQuery } from "@/api/checkpoints";
import type { Checkpoint, Run } from "@/api/types";
import { BlockableButton } from "@/ui/BlockableButton";
import { EmptyState } from "@/ui/EmptyState";
import { bytes, short } from "@/ui/format";
import { Score, Short, TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { availabilityText, isReported, unsupportedReason } from "@/ui/states";
import { WideTable } from "@/ui/WideTable";
import { AliasModal } from "./AliasModal";
import { CheckpointMenu } from "./CheckpointMenu";
import { CalibrateModal } from "./critic/CalibrateModal";
import { EvaluateModal } from "./evaluations/EvaluateModal";
import { RecordModal } from "./recordings/RecordModal";
import { bestBy } from "./evaluations/request";
import { ForkModal } from "./ForkModal";
import classes from "./run.module.css";

/** Checkpoints of a run, with their actions. */
export function CheckpointsTab({ run }: { run: Run }) {
  const query = useQuery(checkpointsQuery(run.id));
  const pin = usePinCheckpoint(run.id);
  const [forked, setForked] = useState<Checkpoint | null>(null);
  const [evaluated, setEvaluated] = useState<Checkpoint | null>(null);
  const [calibrated, setCalibrated] = useState<Checkpoint | null>(null);
  const [aliased, setAliased] = useState<Checkpoint | null>(null);
  const [recorded, setRecorded] = useState<Checkpoint | null>(null);
  if (query.isError && !query.data) {
    return <QueryError error={query.error} retry={() => void query.refetch()} />;
  }
  if (!query.data) return <Text c="dimmed">Loading checkpoints…</Text>;
  if (query.data.length === 0) {
    return (
      <EmptyState icon={IconDeviceFloppy} title="No checkpoints yet">
        {availabilityText(
          run,
          "The first checkpoint is saved a few seconds after training starts.",
          "This run ended before its first checkpoint.",
        )}
      </EmptyState>
    );
  }
  const newestFirst = query.data.toSorted((a, b) => b.step - a.step || b.id - a.id);
  return (
    <Stack gap="sm">
      <Text size="sm" c="dimmed">
        {isReported(run)
          ? "This agent was imported. Evaluate it, record it or watch it play."
          : "Fork a checkpoint to continue training from it, optionally with other hyperparameters. Arcadia keeps the first, best and last checkpoints, and others spread evenly between them. Pinned checkpoints are kept permanently."}
      </Text>
      <WideTable label="Table of checkpoints" className={classes.card}>
        <Table verticalSpacing={6} className={`${classes.oneLine} ${classes.tight}`}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Saved at</Table.Th>
              <Table.Th ta="right" title="Mean of the last 100 episodes">
                Return
              </Table.Th>
              <Table.Th ta="right" visibleFrom="sm">
                Size
              </Table.Th>
              <Table.Th ta="right" visibleFrom="sm">
                Age
              </Table.Th>
              <Table.Th>
                <VisuallyHidden>Actions</VisuallyHidden>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {newestFirst.map((checkpoint) => (
              <CheckpointRow
                key={checkpoint.id}
                run={run}
                checkpoint={checkpoint}
                liveUrl={`/runs/${run.id}/live?checkpoint=${checkpoint.id}`}
                onFork={() => setForked(checkpoint)}
                onEvaluate={() => setEvaluated(checkpoint)}
                onCalibrate={() => setCalibrated(checkpoint)}
                onRecord={() => setRecorded(checkpoint)}
                onSetAlias={() => setAliased(checkpoint)}
                onPin={() => pin.mutate({ checkpoint: checkpoint.id, pinned: !checkpoint.pinned })}
              />
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
      {forked && <ForkModal run={run} checkpoint={forked} onClose={() => setForked(null)} />}
      {evaluated && <EvaluateModal run={run} checkpoint={evaluated} onClose={() => setEvaluated(null)} />}
      {calibrated && <CalibrateModal run={run} checkpoint={calibrated} onClose={() => setCalibrated(null)} />}
      {aliased && <AliasModal run={run} checkpoint={aliased} onClose={() => setAliased(null)} />}
      {recorded && <RecordModal run={run} checkpoint={recorded} onClose={() => setRecorded(null)} />}
    </Stack>
  );
}

interface RowProps {
  run: Run;
  checkpoint: Checkpoint;
  liveUrl: string;
  onFork: () => void;
  onEvaluate: () => void;
  onCalibrate: () => void;
  onRecord: () => void;
  onPin: () => void;
  onSetAlias: () => void;
}

function CheckpointRow({
  run,
  checkpoint,
  liveUrl,
  onFork,
  onEvaluate,
  onCalibrate,
  onRecord,
  onPin,
  onSetAlias,
}: RowProps) {
  return (
    <Table.Tr>
      <Table.Td>
        <Group gap="2px 8px">
          <Short value={checkpoint.step} unit="steps" />
          {checkpoint.best && (
            <>
              <Badge size="sm" tt="none" style={{ flex: "none" }}>
                best
              </Badge>
              <Text size="xs" c="dimmed">
                {bestBy(checkpoint)}
              </Text>
            </>
          )}
          {checkpoint.pinned && (
            <Badge size="sm" variant="light" tt="none">
              pinned
            </Badge>
          )}
          {checkpoint.aliases.map((alias) => (
            <Badge
              key={alias}
              component={Link}
              to={`/aliases?name=${encodeURIComponent(alias)}`}
              size="sm"
              h={24}
              variant="outline"
              tt="none"
              style={{ cursor: "pointer" }}
            >
              {alias}
            </Badge>
          ))}
          {checkpoint.attempt === 0 && (
            <Badge size="sm" variant="default" tt="none">
              from parent
            </Badge>
          )}
        </Group>
      </Table.Td>
      <Table.Td ta="right">
        <Score value={checkpoint.return_mean} meaning="Mean of the last 100 episodes" />
      </Table.Td>
      <Table.Td ta="right" visibleFrom="sm">
        {bytes(checkpoint.bytes)}
      </Table.Td>
      <Table.Td ta="right" visibleFrom="sm">
        <TimeAgo time={checkpoint.created_at} />
      </Table.Td>
      <Table.Td>
        {checkpoint.available && checkpoint.file_id !== null ? (
          <Group gap={8} justify="flex-end" className={classes.checkpointActions}>
            {!isReported(run) && (
              <BlockableButton
                blocked={unsupportedReason(run)}
                size="compact-sm"
                variant="default"
                aria-label={`Fork from ${short(checkpoint.step, "steps")}`}
                onClick={onFork}
              >
                Fork
                <Text span inherit visibleFrom="sm">
                  &nbsp;from <Short value={checkpoint.step} unit="steps" />
                </Text>
              </BlockableButton>
            )}
            <CheckpointMenu
              run={run}
              checkpoint={checkpoint}
              fileId={checkpoint.file_id}
              liveUrl={liveUrl}
              onEvaluate={onEvaluate}
              onCalibrate={onCalibrate}
              onRecord={onRecord}
              onPin={onPin}
              onSetAlias={onSetAlias}
            />
          </Group>
        ) : (
          <Text size="xs" c="dimmed" ta="right">
            deleted
          </Text>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
