import { ActionIcon, Code, CopyButton, Group, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";

/** A command for a shell, with a button that copies it. */
export function CommandLine({ command }: { command: string }) {
  return (
    <Group gap={4} wrap="nowrap" w="fit-content" maw="100%">
      <Code
        block
        tabIndex={0}
        py={6}
        ta="left"
        bg="var(--arcadia-surface)"
        bd="1px solid var(--arcadia-line)"
        style={{ overflowX: "auto" }}
      >
        {command}
      </Code>
      <CopyButton value={command}>
        {({ copied, copy }) => (
          <Tooltip label={copied ? "Copied" : "Copy the command"}>
            <ActionIcon onClick={copy} aria-label="Copy the command">
              {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
            </ActionIcon>
          </Tooltip>
        )}
      </CopyButton>
    </Group>
  );
}
