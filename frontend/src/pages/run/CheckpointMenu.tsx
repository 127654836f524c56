import { ActionIcon, Menu } from "@mantine/core";
import {
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
import { agentAddress } from "@/api/agents";
import { fileAddress } from "@/api/client";
import type { Checkpoint, Run } from "@/api/types";
import { UnsupportedNote } from "@/run-actions/UnsupportedNote";
import { MenuAction } from "@/ui/MenuAction";
import { unsupportedReason } from "@/ui/states";

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
export function CheckpointMenu({
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
