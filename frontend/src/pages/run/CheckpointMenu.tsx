import { ActionIcon, Menu } from "@mantine/core";
import {
  IconDots,
  IconDownload,
  IconGauge,
  IconPin,
  IconPinnedOff,
  IconPlayerPlay,
  IconRobot,
  IconTag,
  IconVideo,
} from "@tabler/icons-react";
import { Link } from "react-router";
import { agentAddress } from "@/api/agents";
import { fileAddress } from "@/api/client";
import type { Checkpoint } from "@/api/types";

interface CheckpointMenuProps {
  runId: number;
  checkpoint: Checkpoint;
  fileId: number;
  liveUrl: string;
  onEvaluate: () => void;
  onRecord: () => void;
  onPin: () => void;
  onSetAlias: () => void;
}

/** Menu of the actions for a checkpoint, except forking. */
export function CheckpointMenu({
  runId,
  checkpoint,
  fileId,
  liveUrl,
  onEvaluate,
  onRecord,
  onPin,
  onSetAlias,
}: CheckpointMenuProps) {
  const Pin = checkpoint.pinned ? IconPinnedOff : IconPin;
  return (
    <Menu width={220} position="bottom-end" keepMounted={false}>
      <Menu.Target>
        <ActionIcon size={32} aria-label={`Actions for the checkpoint at step ${checkpoint.step}`}>
          <IconDots size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} to={liveUrl} leftSection={<IconPlayerPlay size={16} aria-hidden />}>
          Watch live
        </Menu.Item>
        <Menu.Item leftSection={<IconGauge size={16} aria-hidden />} onClick={onEvaluate}>
          Evaluate…
        </Menu.Item>
        <Menu.Item leftSection={<IconVideo size={16} aria-hidden />} onClick={onRecord}>
          Record replay…
        </Menu.Item>
        <Menu.Item leftSection={<Pin size={16} aria-hidden />} onClick={onPin}>
          {checkpoint.pinned ? "Unpin" : "Pin"}
        </Menu.Item>
        <Menu.Item leftSection={<IconTag size={16} aria-hidden />} onClick={onSetAlias}>
          Set alias…
        </Menu.Item>
        <Menu.Divider />
        <Menu.Item
          component="a"
          href={fileAddress(fileId)}
          download
          leftSection={<IconDownload size={16} aria-hidden />}
        >
          Download checkpoint
        </Menu.Item>
        <Menu.Item
          component="a"
          href={agentAddress(runId, checkpoint.id)}
          download
          leftSection={<IconRobot size={16} aria-hidden />}
        >
          Download agent
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
