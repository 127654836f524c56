import { Button, Popover, ScrollArea, Stack, TextInput } from "@mantine/core";
import { IconPlus, IconSearch } from "@tabler/icons-react";
import { useState } from "react";
import { useCatchFocus } from "@/ui/useCatchFocus";
import { ColumnChoices } from "./ColumnChoices";
import { hasColumn, toggleColumn } from "./columnSpecs";
import { ComputedColumnForm } from "./ComputedColumnForm";
import { computedColumns, MAX_COMPUTED } from "./computedColumns";
import type { RunsView } from "./view";
import classes from "./ColumnMenu.module.css";

export interface ColumnMenuProps {
  view: RunsView;
  project: string | null;
  /** Specs of all shown columns. */
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
  onReset: () => void;
}

/** Searchable menu that selects columns: run fields, progress, settings, and the last, max or min of any metric. */
export function ColumnPanel({ view, project, chosen, onChange, onReset }: ColumnMenuProps) {
  const [search, setSearch] = useState("");
  const [isAdding, setAdding] = useState(false);
  const searchField = useCatchFocus<HTMLInputElement>(!isAdding);
  const isFull = computedColumns(chosen).length >= MAX_COMPUTED;
  const content = isAdding ? (
    <ComputedColumnForm
      onAdd={(id) => {
        if (!hasColumn(chosen, id)) onChange([...chosen, id]);
        setAdding(false);
      }}
      onCancel={() => setAdding(false)}
    />
  ) : (
    <>
      <div className={classes.search}>
        <TextInput
          ref={searchField}
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
        <Button
          variant="subtle"
          size="compact-xs"
          h={24}
          leftSection={<IconPlus size={14} aria-hidden />}
          disabled={isFull}
          title={isFull ? `At most ${MAX_COMPUTED} computed columns` : undefined}
          onClick={() => setAdding(true)}
        >
          Computed column
        </Button>
        <Button variant="subtle" size="compact-xs" h={24} onClick={onReset}>
          Reset columns
        </Button>
      </div>
    </>
  );
  return (
    <Popover.Dropdown p={0} aria-label="Columns">
      {content}
    </Popover.Dropdown>
  );
}
