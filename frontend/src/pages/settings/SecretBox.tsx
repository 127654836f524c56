import { Button, Group, Modal, Stack, Text, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { CopyText } from "@/ui/CopyText";
import classes from "./settings.module.css";

interface SecretBoxProps {
  title: string;
  label: string;
  secret: string;
  onClose: () => void;
  children: ReactNode;
}

/** Dialog with a secret that is shown once, such as a link or a token. */
export function SecretBox({ title, label, secret, onClose, children }: SecretBoxProps) {
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ "aria-label": "Close" }}>
      <Stack gap="md">
        <Text size="sm">{children}</Text>
        <Group gap="xs" wrap="nowrap">
          <TextInput
            aria-label={label}
            value={secret}
            readOnly
            className={classes.link ?? ""}
            style={{ flex: 1 }}
            onFocus={(event) => event.currentTarget.select()}
            data-autofocus
          />
          <CopyText label="Copy" text={secret} />
        </Group>
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}
