import { ActionIcon, Code, Group, Tooltip } from "@mantine/core";
import { IconCheck, IconCopy } from "@tabler/icons-react";
import { useCopy } from "./useCopy";

/** A command for a shell, with a button that copies it. */
export function CommandLine({ command }: { command: string }) {
  const { copied, copy } = useCopy();
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
      <Tooltip label={copied ? "Copied" : "Copy command"}>
        <ActionIcon onClick={() => copy(command)} aria-label="Copy command">
          {copied ? <IconCheck size={16} /> : <IconCopy size={16} />}
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}
