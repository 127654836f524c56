import { ActionIcon, Button, Popover, ScrollArea, Stack, Text, TextInput, Tooltip } from "@mantine/core";
import { IconColumns3, IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { ColumnChoices } from "./ColumnChoices";
import { toggleColumn } from "./columnSpecs";
import classes from "./ColumnMenu.module.css";
import type { RunsView } from "./view";

interface ColumnMenuProps {
  view: RunsView;
  project: string | null;
  /** Specs of all shown columns. */
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  onReset: () => void;
}

/** Searchable menu that selects columns: run fields, progress, settings, and the last, max or min of any metric. */
export function ColumnMenu({ view, project, chosen, onChange, onReset }: ColumnMenuProps) {
  const [search, setSearch] = useState("");
  return (
    <Popover position="bottom-end" shadow="md" width={400} trapFocus onClose={() => setSearch("")}>
      <Popover.Target>
        <Tooltip label="Choose columns">
          <ActionIcon size={32} aria-label="Choose columns" visibleFrom="sm">
            <IconColumns3 size={18} stroke={1.75} />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown p={0} aria-label="Columns">
        <div className={classes.search}>
          <TextInput
            type="search"
            size="xs"
            data-autofocus
            aria-label="Search columns"
            placeholder="Search columns"
            leftSection={<IconSearch size={14} aria-hidden />}
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
          />
        </div>
        <ScrollArea.Autosize mah={440} type="auto" scrollbars="y">
          <Stack gap="sm" p="sm">
            <ColumnChoices
              view={view}
              project={project}
              chosen={chosen}
              search={search}
              onToggle={(id) => onChange(toggleColumn(chosen, id))}
            />
          </Stack>
        </ScrollArea.Autosize>
        <div className={classes.foot}>
          <Text size="xs" c="dimmed">
            Drag headers to reorder
          </Text>
          <Button variant="subtle" size="compact-xs" h={24} onClick={onReset}>
            Reset columns
          </Button>
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}
