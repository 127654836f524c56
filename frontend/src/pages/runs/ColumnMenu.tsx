import { ActionIcon, Button, Checkbox, Popover, ScrollArea, Stack, Text, Tooltip } from "@mantine/core";
import { IconColumns3 } from "@tabler/icons-react";
import type { Run } from "@/api/types";
import { COLUMNS, configColumns, DEFAULT_COLUMNS, type RunColumn } from "./columns";
import { toggled } from "./view";

interface ColumnMenuProps {
  runs: readonly Run[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

/** Which columns the table has: a run's own, and any hyper-parameter. */
export function ColumnMenu({ runs, chosen, onChange }: ColumnMenuProps) {
  const list = (columns: readonly RunColumn[]) =>
    columns.map(({ id, title }) => (
      <Checkbox
        key={id}
        size="xs"
        label={title}
        checked={id === "name" || chosen.includes(id)}
        disabled={id === "name"}
        onChange={() => onChange(toggled(chosen, id))}
      />
    ));
  return (
    <Popover position="bottom-end" shadow="md" width={240} trapFocus>
      <Popover.Target>
        <Tooltip label="Choose columns">
          <ActionIcon size={32} aria-label="Choose columns" visibleFrom="sm">
            <IconColumns3 size={18} stroke={1.75} />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown p={0}>
        <ScrollArea.Autosize mah={400} type="auto">
          <Stack gap="xs" p="sm">
            {list(COLUMNS)}
            <Text size="xs" c="dimmed" mt="xs">
              Hyper-parameters
            </Text>
            {list(configColumns(runs))}
            <Button variant="subtle" size="xs" onClick={() => onChange(DEFAULT_COLUMNS)}>
              Show the usual columns
            </Button>
          </Stack>
        </ScrollArea.Autosize>
      </Popover.Dropdown>
    </Popover>
  );
}
