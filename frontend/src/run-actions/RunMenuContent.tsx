import { Menu } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import {
  IconAdjustments,
  IconArchive,
  IconArchiveOff,
  IconCopy,
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
import { agentAddress } from "@/api/agents";
import { archiveAddress } from "@/api/archives";
import { address } from "@/api/client";
import { type RunAction, useCloneRun, usePurgeRun } from "@/api/runs";
import type { BulkAction, ListedRun, Run } from "@/api/types";
import { MenuAction } from "@/ui/MenuAction";
import { notifyDone } from "@/ui/notify";
import { hasAgent, isReported, unsupportedReason } from "@/ui/states";
import { MoveModal } from "./MoveModal";
import { ChangeSettingsModal } from "./changes/ChangeSettingsModal";
import { PurgeModal } from "./PurgeModal";
import { UnsupportedNote } from "./UnsupportedNote";
import { useRunControls } from "./useRunControls";
import { ACTION_NAMES } from "./words";

export interface RunMenuProps {
  run: ListedRun;
  onLaunched?: (copy: Run) => void;
  onPurged?: () => void;
  /** More items, after those that start and stop the run. */
  children?: ReactNode;
}

const ICONS = {
  stop: IconPlayerStop,
  pause: IconPlayerPause,
  resume: IconPlayerPlay,
  archive: IconArchive,
  restore: IconArchiveOff,
  purge: IconTrash,
};

/** Items of the menu of a run, and their dialogs. */
export function RunMenuContent({ run, onLaunched, onPurged, children }: RunMenuProps) {
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

  const isUnsupported = unsupportedReason(run) !== null;
  // The note above the items has the reason that all of them share.
  const reasonBelowNote = (reason: string | null) => (isUnsupported ? null : reason);
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
            <UnsupportedNote run={run} />
            <MenuAction
              Icon={IconSettings}
              label="Change settings…"
              disabled={isUnsupported}
              blocked={reasonBelowNote(run.actions.change)}
              onClick={changeDialog.open}
            />
            <MenuAction
              Icon={IconCopy}
              label="Run this again"
              disabled={isUnsupported}
              onClick={launchAgain}
            />
            <MenuAction
              Icon={IconAdjustments}
              label="Launch again with…"
              disabled={isUnsupported}
              to={`/launch?like=${run.id}`}
            />
          </>
        )}
        <MenuAction Icon={IconGitCompare} label="Compare with others…" to={`/compare?runs=${run.id}`} />
        <MenuAction
          Icon={IconFolderShare}
          label="Move to project…"
          blocked={run.actions.edit}
          onClick={moveDialog.open}
        />
        <Menu.Divider />
        {hasAgent(run) && (
          <ExportItem
            href={agentAddress(run.id)}
            label="Download agent"
            disabled={run.unsupported_because !== null}
            blocked={reasonBelowNote(run.actions.download)}
          />
        )}
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

interface ExportItemProps {
  href: string;
  label: string;
  disabled?: boolean;
  blocked?: string | null;
}

function ExportItem(item: ExportItemProps) {
  return <MenuAction Icon={IconFileDownload} {...item} />;
}

function ActionItem({ run, action, onClick }: { run: ListedRun; action: BulkAction; onClick: () => void }) {
  return (
    <MenuAction
      Icon={ICONS[action]}
      label={`${ACTION_NAMES[action]} run${action === "purge" ? "…" : ""}`}
      color={action === "purge" ? "var(--mantine-color-error)" : undefined}
      blocked={run.actions[action]}
      onClick={onClick}
    />
  );
}
