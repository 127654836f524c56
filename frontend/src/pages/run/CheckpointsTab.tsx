import {
  ActionIcon,
  Anchor,
  Autocomplete,
  Badge,
  Button,
  Group,
  Menu,
  Modal,
  Stack,
  Text,
  Textarea,
} from "@mantine/core";
import {
  IconDeviceFloppy,
  IconDots,
  IconDownload,
  IconGauge,
  IconPin,
  IconPinnedOff,
  IconPlayerPlay,
  IconRobot,
  IconScale,
  IconTag,
  IconVideo,
} from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ComponentProps, type FormEvent, useState } from "react";
import { Link } from "react-router";
import { agentAddress } from "@/api/agents";
import { aliasesQuery, useSetAlias } from "@/api/aliases";
import { checkpointsQuery, usePinCheckpoint } from "@/api/checkpoints";
import { fileAddress } from "@/api/client";
import type { Checkpoint, Run } from "@/api/types";
import { placeErrors } from "@/config-form/serverErrors";
import { UnsupportedNote } from "@/run-actions/UnsupportedNote";
import { BlockableButton } from "@/ui/BlockableButton";
import { DataTable } from "@/ui/DataTable";
import { EmptyState } from "@/ui/EmptyState";
import { bytes, short } from "@/ui/format";
import { FormErrors } from "@/ui/FormErrors";
import { MenuAction } from "@/ui/MenuAction";
import { notifyDone } from "@/ui/notify";
import { Score, Short, TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { availabilityText, isReported, unsupportedReason } from "@/ui/states";
import { CalibrateModal } from "./critic/CalibrateModal";
import { EvaluateModal } from "./evaluations/EvaluateModal";
import { bestBy } from "./evaluations/request";
import { ForkModal } from "./ForkModal";
import { RecordModal } from "./recordings/RecordModal";
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
      <DataTable
        label="Table of checkpoints"
        frameClass={classes.card}
        verticalSpacing={6}
        className={`${classes.oneLine} ${classes.tight}`}
        rows={newestFirst}
        rowKey={({ id }) => id}
        columns={[
          { title: "Saved at", cell: (checkpoint) => <CheckpointName checkpoint={checkpoint} /> },
          {
            title: "Return",
            help: "Mean of the last 100 episodes",
            numeric: true,
            cell: ({ return_mean }) => <Score value={return_mean} meaning="Mean of the last 100 episodes" />,
          },
          {
            title: "Size",
            numeric: true,
            visibleFrom: "sm",
            cell: (checkpoint) => bytes(checkpoint.bytes),
          },
          {
            title: "Age",
            numeric: true,
            visibleFrom: "sm",
            cell: ({ created_at }) => <TimeAgo time={created_at} />,
          },
          {
            title: "Actions",
            isTitleHidden: true,
            cell: (checkpoint) => (
              <CheckpointActions
                run={run}
                checkpoint={checkpoint}
                onFork={() => setForked(checkpoint)}
                onEvaluate={() => setEvaluated(checkpoint)}
                onCalibrate={() => setCalibrated(checkpoint)}
                onRecord={() => setRecorded(checkpoint)}
                onSetAlias={() => setAliased(checkpoint)}
                onPin={() => pin.mutate({ checkpoint: checkpoint.id, pinned: !checkpoint.pinned })}
              />
            ),
          },
        ]}
      />
      {forked && <ForkModal run={run} checkpoint={forked} onClose={() => setForked(null)} />}
      {evaluated && <EvaluateModal run={run} checkpoint={evaluated} onClose={() => setEvaluated(null)} />}
      {calibrated && <CalibrateModal run={run} checkpoint={calibrated} onClose={() => setCalibrated(null)} />}
      {aliased && <AliasModal run={run} checkpoint={aliased} onClose={() => setAliased(null)} />}
      {recorded && <RecordModal run={run} checkpoint={recorded} onClose={() => setRecorded(null)} />}
    </Stack>
  );
}

function CheckpointName({ checkpoint }: { checkpoint: Checkpoint }) {
  return (
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
  );
}

interface CheckpointActionsProps extends Omit<ComponentProps<typeof CheckpointMenu>, "fileId" | "liveUrl"> {
  onFork: () => void;
}

function CheckpointActions({ onFork, ...menu }: CheckpointActionsProps) {
  const { run, checkpoint } = menu;
  if (!checkpoint.available || checkpoint.file_id === null)
    return (
      <Text size="xs" c="dimmed" ta="right">
        deleted
      </Text>
    );
  return (
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
        {...menu}
        fileId={checkpoint.file_id}
        liveUrl={`/runs/${run.id}/live?checkpoint=${checkpoint.id}`}
      />
    </Group>
  );
}

interface CheckpointMenuProps {
  run: Run;
  checkpoint: Checkpoint;
  fileId: number;
  liveUrl: string;
  onEvaluate: () => void;
  onCalibrate: () => void;
  onRecord: () => void;
  onPin: () => void;
  onSetAlias: () => void;
}

/** Menu of the actions for a checkpoint, except forking. */
function CheckpointMenu({
  run,
  checkpoint,
  fileId,
  liveUrl,
  onEvaluate,
  onCalibrate,
  onRecord,
  onPin,
  onSetAlias,
}: CheckpointMenuProps) {
  const isUnsupported = unsupportedReason(run) !== null;
  return (
    <Menu width={220} position="bottom-end" keepMounted={false}>
      <Menu.Target>
        <ActionIcon size={32} aria-label={`Actions for the checkpoint at step ${checkpoint.step}`}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <UnsupportedNote run={run} />
        <MenuAction Icon={IconPlayerPlay} label="Watch live" disabled={isUnsupported} to={liveUrl} />
        <MenuAction Icon={IconGauge} label="Evaluate…" disabled={isUnsupported} onClick={onEvaluate} />
        <MenuAction
          Icon={IconScale}
          label="Calibrate critic…"
          disabled={isUnsupported}
          onClick={onCalibrate}
        />
        <MenuAction Icon={IconVideo} label="Record replay…" disabled={isUnsupported} onClick={onRecord} />
        <MenuAction
          Icon={checkpoint.pinned ? IconPinnedOff : IconPin}
          label={checkpoint.pinned ? "Unpin" : "Pin"}
          disabled={run.actions.edit !== null}
          onClick={onPin}
        />
        <MenuAction
          Icon={IconTag}
          label="Set alias…"
          disabled={run.actions.edit !== null}
          onClick={onSetAlias}
        />
        <Menu.Divider />
        <MenuAction Icon={IconDownload} label="Download checkpoint" href={fileAddress(fileId)} />
        <MenuAction
          Icon={IconRobot}
          label="Download agent"
          disabled={run.unsupported_because !== null}
          href={agentAddress(run.id, checkpoint.id)}
        />
      </Menu.Dropdown>
    </Menu>
  );
}

interface AliasModalProps {
  run: Run;
  checkpoint: Checkpoint;
  onClose: () => void;
}

/** Dialog that sets an alias of a checkpoint. */
function AliasModal({ run, checkpoint, onClose }: AliasModalProps) {
  const [typed, setTyped] = useState("");
  const name = typed.trim().toLowerCase();
  const [why, setWhy] = useState("");
  const { data: aliases = [] } = useQuery(aliasesQuery);
  const set = useSetAlias(run.id);
  const before = aliases.find((alias) => alias.name === name);
  const { byField, general } = set.error ? placeErrors(set.error, ["name"]) : { byField: {}, general: [] };

  function submit(event: FormEvent) {
    event.preventDefault();
    set.mutate(
      { name, checkpoint_id: checkpoint.id, why },
      {
        onSuccess() {
          notifyDone(`${name} now names the checkpoint at ${short(checkpoint.step, "steps")}.`);
          onClose();
        },
      },
    );
  }

  return (
    <Modal
      opened
      onClose={onClose}
      title={`Alias of the checkpoint at ${short(checkpoint.step, "steps")}`}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="md">
          <Autocomplete
            label="Alias"
            description="A name such as pong/champion. A checkpoint with an alias is never pruned."
            data-autofocus
            openOnFocus={false}
            maxLength={100}
            data={aliases.map((alias) => alias.name)}
            value={typed}
            error={byField.name}
            onChange={setTyped}
          />
          {before && (
            <Text size="sm">
              It now names a checkpoint of{" "}
              <Anchor component={Link} to={`/runs/${before.run_id}`} inherit>
                run {before.run_id}
              </Anchor>{" "}
              and moves here.
            </Text>
          )}
          <Textarea
            label="Reason"
            description="For the history of the alias."
            maxLength={2000}
            value={why}
            onChange={(event) => setWhy(event.currentTarget.value)}
          />
          <FormErrors messages={general} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={set.isPending} disabled={name === ""}>
              Set alias
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
