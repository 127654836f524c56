import { Button, Group, Modal, Stack } from "@mantine/core";
import type { ReactNode } from "react";

interface ConfirmModalProps {
  opened: boolean;
  title: string;
  /** Label of the button, such as "Stop 3 runs". */
  action: string;
  danger?: boolean;
  busy?: boolean;
  disabled?: boolean;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
}

export function ConfirmModal(props: ConfirmModalProps) {
  return (
    <Modal
      opened={props.opened}
      onClose={props.onClose}
      title={props.title}
      closeButtonProps={{ "aria-label": "Close" }}
    >
      <Stack gap="md">
        <div>{props.children}</div>
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={props.onClose}>
            Cancel
          </Button>
          <Button
            color={props.danger ? "red.8" : undefined}
            loading={props.busy}
            disabled={props.disabled}
            onClick={props.onConfirm}
            data-autofocus
          >
            {props.action}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
