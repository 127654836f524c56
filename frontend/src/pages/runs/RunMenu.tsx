import { ActionIcon, Menu, Text } from "@mantine/core";
import {
  IconAdjustments,
  IconArchive,
  IconArchiveOff,
  IconCopy,
  IconDots,
  IconPlayerPause,
  IconPlayerPlay,
  IconPlayerStop,
  IconTrash,
} from "@tabler/icons-react";
import { useState } from "react";
import { Link } from "react-router";
import { useCloneRun, usePurgeRun, useRunAction } from "@/api/mutations";
import type { BulkAction, Run } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { notifyDone } from "@/ui/notify";
import { ACTION_DONE, ACTION_NAMES, refusal } from "@/ui/runActions";

const SIGNS = {
  stop: IconPlayerStop,
  pause: IconPlayerPause,
  resume: IconPlayerPlay,
  archive: IconArchive,
  restore: IconArchiveOff,
  purge: IconTrash,
};

/** Everything that can be done with one run; what cannot be now says why. */
export function RunMenu({ run }: { run: Run }) {
  const [purging, setPurging] = useState(false);
  const clone = useCloneRun();
  const act = useRunAction();
  const purge = usePurgeRun();

  const item = (action: BulkAction, onClick: () => void) => (
    <ActionItem key={action} run={run} action={action} onClick={onClick} />
  );
  const steer = (action: Exclude<BulkAction, "purge">) =>
    item(action, () =>
      act.mutate(
        { id: run.id, action },
        { onSuccess: () => notifyDone(`${run.name} ${ACTION_DONE[action]}.`) },
      ),
    );
  const launchAgain = () =>
    clone.mutate(
      { id: run.id },
      { onSuccess: (copy) => notifyDone(`Launched ${copy.name} as run ${copy.id}.`) },
    );

  return (
    <>
      <Menu width={256} keepMounted={false}>
        <Menu.Target>
          <ActionIcon size={32} aria-label={`Actions for ${run.name}`}>
            <IconDots size={18} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {(["stop", "pause", "resume"] as const).map(steer)}
          <Menu.Divider />
          <Menu.Item leftSection={<IconCopy size={16} />} onClick={launchAgain}>
            Launch the same again
          </Menu.Item>
          <Menu.Item
            leftSection={<IconAdjustments size={16} />}
            component={Link}
            to={`/launch?like=${run.id}`}
          >
            Change and launch…
          </Menu.Item>
          <Menu.Divider />
          {steer(run.archived_at ? "restore" : "archive")}
          {item("purge", () => setPurging(true))}
        </Menu.Dropdown>
      </Menu>
      <ConfirmModal
        opened={purging}
        title={`Purge ${run.name}?`}
        action="Purge run"
        danger
        busy={purge.isPending}
        onClose={() => setPurging(false)}
        onConfirm={() => purge.mutate(run.id, { onSettled: () => setPurging(false) })}
      >
        Its curves, log, checkpoints and replays are deleted for good. To only hide it, archive it.
      </ConfirmModal>
    </>
  );
}

function ActionItem({ run, action, onClick }: { run: Run; action: BulkAction; onClick: () => void }) {
  const Sign = SIGNS[action];
  const reason = refusal(run, action);
  return (
    <Menu.Item
      leftSection={<Sign size={16} />}
      disabled={reason !== null}
      color={action === "purge" ? "red" : undefined}
      onClick={onClick}
    >
      {ACTION_NAMES[action]} run{action === "purge" && "…"}
      {reason && (
        <Text size="xs" c="dimmed" component="span" display="block">
          Not now: {reason}
        </Text>
      )}
    </Menu.Item>
  );
}
