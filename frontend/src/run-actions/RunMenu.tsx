import { ActionIcon, Menu, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import {
  IconAdjustments,
  IconArchive,
  IconArchiveOff,
  IconCopy,
  IconDots,
  IconFileDownload,
  IconFolderShare,
  IconGitCompare,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
  IconSettings,
  IconTrash,
} from "@tabler/icons-react";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { agentAddress } from "@/api/agents";
import { archiveAddress } from "@/api/archives";
import { address } from "@/api/client";
import { type RunAction, useCloneRun, usePurgeRun } from "@/api/runs";
import type { BulkAction, ListedRun, Run } from "@/api/types";
import { notifyDone } from "@/ui/notify";
import { hasAgent, isReported } from "@/ui/states";
import { MoveModal } from "./MoveModal";
import { ChangeSettingsModal } from "./changes/ChangeSettingsModal";
import { PurgeModal } from "./PurgeModal";
import { useRunControls } from "./useRunControls";
import { ACTION_NAMES } from "./words";

const ICONS = {
  stop: IconPlayerStop,
  pause: IconPlayerPause,
  resume: IconPlayerPlay,
  archive: IconArchive,
  restore: IconArchiveOff,
  purge: IconTrash,
};

interface RunMenuProps {
  run: ListedRun;
  onLaunched?: (copy: Run) => void;
  onPurged?: () => void;
  /** More items, after those that start and stop the run. */
  children?: ReactNode;
}

/** Menu of the actions for one run. A disabled action says why. A table has many menus, so they are empty until used. */
export function RunMenu(props: RunMenuProps) {
  const [isUsed, use] = useDisclosure(false);
  return (
    <Menu width={256} keepMounted={false} onOpen={use.open}>
      <Menu.Target>
        <ActionIcon size={32} aria-label={`Actions for ${props.run.name}`}>
          <IconDots size={18} />
        </ActionIcon>
      </Menu.Target>
      {isUsed && <MenuContent {...props} />}
    </Menu>
  );
}

function MenuContent({ run, onLaunched, onPurged, children }: RunMenuProps) {
  const [isPurgeOpen, purgeDialog] = useDisclosure(false);
  const [isMoveOpen, moveDialog] = useDisclosure(false);
  const [isChangeOpen, changeDialog] = useDisclosure(false);
  const clone = useCloneRun();
  const { perform, isStopPending, undoStop } = useRunControls(run);
  // The live stream may remove the run from the page before the server responds.
  const purge = usePurgeRun((id) => {
    notifyDone(`Run ${id} purged.`);
    purgeDialog.close();
    onPurged?.();
  });

  const item = (action: RunAction) => (
    <ActionItem key={action} run={run} action={action} onClick={() => perform(action)} />
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
      <Menu.Dropdown>
        {isStopPending ? (
          <Menu.Item leftSection={<IconPlayerPlay size={16} />} onClick={undoStop}>
            Undo stop
          </Menu.Item>
        ) : (
          (["stop", "pause", "resume"] as const).map(item)
        )}
        <Menu.Divider />
        {children}
        {!isReported(run) && (
          <>
            <Menu.Item leftSection={<IconSettings size={16} />} onClick={changeDialog.open}>
              Change settings…
            </Menu.Item>
            <Menu.Item leftSection={<IconCopy size={16} />} onClick={launchAgain}>
              Run this again
            </Menu.Item>
            <LinkItem to={`/launch?like=${run.id}`} Icon={IconAdjustments} label="Launch again with…" />
          </>
        )}
        <LinkItem to={`/compare?runs=${run.id}`} Icon={IconGitCompare} label="Compare with others…" />
        <Menu.Item leftSection={<IconFolderShare size={16} />} onClick={moveDialog.open}>
          Move to project…
        </Menu.Item>
        <Menu.Divider />
        {hasAgent(run) && <ExportItem href={agentAddress(run.id)} label="Download agent" />}
        <ExportItem href={archiveAddress({ runs: [run.id] })} label="Export run (archive file)" />
        <ExportItem href={address(`/export/runs/${run.id}.csv`)} label="Export all points (CSV)" />
        <ExportItem href={address(`/export/runs/${run.id}.jsonl`)} label="Export all points (JSON Lines)" />
        <Menu.Divider />
        {item(run.archived_at ? "restore" : "archive")}
        <ActionItem run={run} action="purge" onClick={purgeDialog.open} />
      </Menu.Dropdown>
      <MoveModal
        opened={isMoveOpen}
        items={{ runs: [run.id] }}
        subject={`run ${run.id}`}
        from={run.project}
        onClose={moveDialog.close}
      />
      {isChangeOpen && <ChangeSettingsModal run={run} onClose={changeDialog.close} />}
      <PurgeModal
        runs={[run]}
        opened={isPurgeOpen}
        busy={purge.isPending}
        onConfirm={() => purge.mutate(run.id)}
        onClose={purgeDialog.close}
      />
    </>
  );
}

function LinkItem({ to, Icon, label }: { to: string; Icon: typeof IconCopy; label: string }) {
  return (
    <Menu.Item component={Link} to={to} leftSection={<Icon size={16} />}>
      {label}
    </Menu.Item>
  );
}

function ExportItem({ href, label }: { href: string; label: string }) {
  return (
    <Menu.Item component="a" href={href} download leftSection={<IconFileDownload size={16} />}>
      {label}
    </Menu.Item>
  );
}

function ActionItem({ run, action, onClick }: { run: ListedRun; action: BulkAction; onClick: () => void }) {
  const Icon = ICONS[action];
  const refusal = run.actions[action];
  return (
    <Menu.Item
      leftSection={<Icon size={16} />}
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
