import { ActionIcon, Button, Group, Menu, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconDots, IconFileDownload, IconTrash } from "@tabler/icons-react";
import { useCancelCalibration, useDeleteCalibration } from "@/api/calibrations";
import { address } from "@/api/client";
import { isUnfinished } from "@/api/jobs";
import type { Calibration } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { notifyDone } from "@/ui/notify";
import { calibrationName } from "./words";

interface ActionsProps {
  calibration: Calibration;
  onRemoved?: () => void;
}

/** Actions for a calibration: cancel, export and remove. */
export function CalibrationActions({ calibration, onRemoved }: ActionsProps) {
  const [isConfirmOpen, confirmDialog] = useDisclosure(false);
  const cancel = useCancelCalibration(calibration.run_id);
  const name = calibrationName(calibration);
  const remove = useDeleteCalibration(calibration.run_id, () => {
    notifyDone(`Calibration at ${name} removed.`);
    onRemoved?.();
  });

  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      {isUnfinished(calibration) && (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Cancel the calibration at ${name}`}
          loading={cancel.isPending}
          onClick={() => cancel.mutate(calibration.id)}
        >
          Cancel
        </Button>
      )}
      <Menu keepMounted={false} width={232}>
        <Menu.Target>
          <ActionIcon aria-label={`Actions for the calibration at ${name}`}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            component="a"
            href={address(`/export/calibrations/${calibration.id}.csv`)}
            download
            disabled={calibration.state !== "done"}
            leftSection={<IconFileDownload size={16} />}
          >
            Export all decisions (CSV)
          </Menu.Item>
          <Menu.Item
            color="var(--mantine-color-error)"
            leftSection={<IconTrash size={16} />}
            onClick={confirmDialog.open}
          >
            Remove calibration…
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <ConfirmModal
        opened={isConfirmOpen}
        title="Remove this calibration?"
        action="Remove calibration"
        danger
        busy={remove.isPending}
        onConfirm={() => remove.mutate(calibration.id, { onSettled: confirmDialog.close })}
        onClose={confirmDialog.close}
      >
        <Text size="sm">
          Calibration at {name}:{" "}
          {isUnfinished(calibration) ? "this stops it." : "this permanently deletes its results."} The
          checkpoint is kept.
        </Text>
      </ConfirmModal>
    </Group>
  );
}
