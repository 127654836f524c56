import { ActionIcon, Menu, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import {
  IconAdjustments,
  IconArchive,
  IconArchiveOff,
  IconCopy,
  IconDots,
  IconFileDownload,
  IconGitCompare,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
  IconTrash,
} from "@tabler/icons-react";
import { Link } from "react-router";
import { address } from "@/api/client";
import { type RunAction, useCloneRun, usePurgeRun } from "@/api/runs";
import type { BulkAction, Run } from "@/api/types";
import { notifyDone } from "@/ui/notify";
import { PurgeModal } from "./PurgeModal";
import { useSteer } from "./useSteer";
import { ACTION_NAMES } from "./words";

const SIGNS = {
  stop: IconPlayerStop,
  pause: IconPlayerPause,
  resume: IconPlayerPlay,
  archive: IconArchive,
  restore: IconArchiveOff,
  purge: IconTrash,
};

interface RunMenuProps {
  run: Run;
  onLaunched?: (copy: Run) => void;
  onPurged?: () => void;
}

/** Everything that can be done with one run; a refused action says why. */
export function RunMenu({ run, onLaunched, onPurged }: RunMenuProps) {
  const [purging, purge] = useDisclosure(false);
  const clone = useCloneRun();
  const { steer, stopping, keepGoing } = useSteer(run);
  // The stream may take the run off the page before the server answers.
  const remove = usePurgeRun((id) => {
    notifyDone(`Run ${id} deleted`);
    purge.close();
    onPurged?.();
  });

  const item = (action: RunAction) => (
    <ActionItem key={action} run={run} action={action} onClick={() => steer(action)} />
  );

  function launchAgain() {
    clone.mutate(
      { id: run.id },
      {
        onSuccess(copy) {
          notifyDone(`Launched ${copy.name} as run ${copy.id}.`);
          onLaunched?.(copy);
        },
      },
    );
  }

  return (
    <>
      <Menu width={256} keepMounted={false}>
        <Menu.Target>
          <ActionIcon size={32} aria-label={`Actions for ${run.name}`}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {stopping ? (
            <Menu.Item leftSection={<IconPlayerPlay size={16} />} onClick={keepGoing}>
              Undo the stop
            </Menu.Item>
          ) : (
            (["stop", "pause", "resume"] as const).map(item)
          )}
          <Menu.Divider />
          <Menu.Item leftSection={<IconCopy size={16} />} onClick={launchAgain}>
            Run this again
          </Menu.Item>
          <LinkItem to={`/launch?like=${run.id}`} Sign={IconAdjustments} label="Change and launch…" />
          <LinkItem to={`/compare?runs=${run.id}`} Sign={IconGitCompare} label="Compare with others…" />
          <Menu.Divider />
          <ExportItem run={run} format="csv" label="Export every point (CSV)" />
          <ExportItem run={run} format="jsonl" label="Export every point (JSON Lines)" />
          <Menu.Divider />
          {item(run.archived_at ? "restore" : "archive")}
          <ActionItem run={run} action="purge" onClick={purge.open} />
        </Menu.Dropdown>
      </Menu>
      <PurgeModal
        runs={[run]}
        opened={purging}
        busy={remove.isPending}
        onConfirm={() => remove.mutate(run.id)}
        onClose={purge.close}
      />
    </>
  );
}

function LinkItem({ to, Sign, label }: { to: string; Sign: typeof IconCopy; label: string }) {
  return (
    <Menu.Item component={Link} to={to} leftSection={<Sign size={16} />}>
      {label}
    </Menu.Item>
  );
}

function ExportItem({ run, format, label }: { run: Run; format: "csv" | "jsonl"; label: string }) {
  return (
    <Menu.Item
      component="a"
      href={address(`/export/runs/${run.id}.${format}`)}
      download
      leftSection={<IconFileDownload size={16} />}
    >
      {label}
    </Menu.Item>
  );
}

function ActionItem({ run, action, onClick }: { run: Run; action: BulkAction; onClick: () => void }) {
  const Sign = SIGNS[action];
  const refusal = run.actions[action];
  return (
    <Menu.Item
      leftSection={<Sign size={16} />}
      disabled={refusal !== null}
      color={action === "purge" ? "var(--mantine-color-error)" : undefined}
      onClick={onClick}
    >
      {ACTION_NAMES[action]} run{action === "purge" && "…"}
      {refusal && (
        <Text size="xs" c="dimmed" component="span" display="block">
          {refusal}
        </Text>
      )}
    </Menu.Item>
  );
}
