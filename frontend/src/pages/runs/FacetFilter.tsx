import { Button, Checkbox, Combobox, Group, Text, useCombobox } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { useState } from "react";
import { exact, plural } from "@/ui/format";
import { toggleValue } from "./view";

export interface FacetOption {
  value: string;
  label: string;
  /** Number of runs with this value. Undefined if no run has it anymore. */
  count?: number;
}

interface FacetFilterProps {
  name: string;
  options: readonly FacetOption[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

/** A shorter list has no search field. */
const MIN_OPTIONS_FOR_SEARCH = 9;

/** Button that names the active filter values and opens a list of all values. */
export function FacetFilter({ name, options, chosen, onChange }: FacetFilterProps) {
  const [search, setSearch] = useState("");
  const combobox = useCombobox({
    onDropdownClose: () => {
      combobox.resetSelectedOption();
      setSearch("");
    },
    onDropdownOpen: () => combobox.focusSearchInput(),
  });
  // Keep active values in the list even if no run has them anymore.
  const all = [
    ...options,
    ...chosen.filter((value) => !options.some((option) => option.value === value)).map(toOption),
  ];
  const found = all.filter(({ label }) => label.toLowerCase().includes(search.trim().toLowerCase()));
  const buttonLabel = formatLabel(name, all, chosen);
  return (
    <Combobox
      store={combobox}
      keepMounted={false}
      width={240}
      position="bottom-start"
      shadow="md"
      onOptionSubmit={(value) => onChange(toggleValue(chosen, value))}
    >
      <Combobox.Target targetType="button" withExpandedAttribute>
        <Button
          variant={chosen.length > 0 ? "light" : "default"}
          size="xs"
          h={32}
          fw={chosen.length > 0 ? 500 : 400}
          rightSection={<IconChevronDown size={14} aria-hidden />}
          // Screen readers do not read the content of a combobox as its name.
          aria-label={buttonLabel}
          onClick={() => combobox.toggleDropdown()}
        >
          {buttonLabel}
        </Button>
      </Combobox.Target>
      <Combobox.Dropdown>
        {all.length >= MIN_OPTIONS_FOR_SEARCH && (
          <Combobox.Search
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
            placeholder={`Find ${name.toLowerCase()}`}
            aria-label={`Find ${name.toLowerCase()}`}
          />
        )}
        <Combobox.Options mah={320} style={{ overflowY: "auto" }} aria-label={name}>
          {found.map(({ value, label: title, count }) => (
            <Combobox.Option
              key={value}
              value={value}
              active={chosen.includes(value)}
              aria-selected={chosen.includes(value)}
            >
              <Group gap="xs" wrap="nowrap">
                <Checkbox checked={chosen.includes(value)} readOnly size="xs" tabIndex={-1} aria-hidden />
                {title}
                {count !== undefined && (
                  <Text span size="xs" c="dimmed" ml="auto" title={plural(count, "run")}>
                    {exact(count)}
                  </Text>
                )}
              </Group>
            </Combobox.Option>
          ))}
          {found.length === 0 && <Combobox.Empty>No matches</Combobox.Empty>}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

const toOption = (value: string): FacetOption => ({ value, label: value });

function formatLabel(name: string, options: readonly FacetOption[], chosen: readonly string[]): string {
  if (chosen.length === 0) return name;
  const first = options.find(({ value }) => value === chosen[0])?.label ?? chosen[0];
  return chosen.length === 1 ? `${name}: ${first}` : `${name}: ${first} +${chosen.length - 1}`;
}
