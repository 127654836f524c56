import { Button, Checkbox, Combobox, Group, Text, useCombobox } from "@mantine/core";
import { IconChevronDown } from "@tabler/icons-react";
import { useState } from "react";
import { plural } from "@/ui/format";
import { toggled } from "./view";

export interface FacetOption {
  value: string;
  label: string;
  /** How many runs have it; not known of what none has any more. */
  count?: number;
}

interface FacetFilterProps {
  name: string;
  options: readonly FacetOption[];
  chosen: readonly string[];
  onChange: (chosen: string[]) => void;
}

const SEARCH_FROM = 9;

/** A button that says what is filtered by, with a list of what can be. */
export function FacetFilter({ name, options, chosen, onChange }: FacetFilterProps) {
  const [search, setSearch] = useState("");
  const combobox = useCombobox({
    onDropdownClose: () => {
      combobox.resetSelectedOption();
      setSearch("");
    },
    onDropdownOpen: () => combobox.focusSearchInput(),
  });
  // What is filtered by stays in the list although no run may have it any more.
  const all = [
    ...options,
    ...chosen.filter((value) => !options.some((one) => one.value === value)).map(asOption),
  ];
  const found = all.filter(({ label }) => label.toLowerCase().includes(search.trim().toLowerCase()));
  const words = label(name, all, chosen);
  return (
    <Combobox
      store={combobox}
      keepMounted={false}
      width={240}
      position="bottom-start"
      shadow="md"
      onOptionSubmit={(value) => onChange(toggled(chosen, value))}
    >
      <Combobox.Target targetType="button" withExpandedAttribute>
        <Button
          variant={chosen.length > 0 ? "light" : "default"}
          size="xs"
          h={32}
          fw={chosen.length > 0 ? 500 : 400}
          rightSection={<IconChevronDown size={14} aria-hidden />}
          // A combobox is not named by what stands in it.
          aria-label={words}
          onClick={() => combobox.toggleDropdown()}
        >
          {words}
        </Button>
      </Combobox.Target>
      <Combobox.Dropdown>
        {all.length >= SEARCH_FROM && (
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
                    {count}
                  </Text>
                )}
              </Group>
            </Combobox.Option>
          ))}
          {found.length === 0 && <Combobox.Empty>Nothing to choose from</Combobox.Empty>}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

const asOption = (value: string): FacetOption => ({ value, label: value });

function label(name: string, options: readonly FacetOption[], chosen: readonly string[]): string {
  if (chosen.length === 0) return name;
  const first = options.find(({ value }) => value === chosen[0])?.label ?? chosen[0];
  return chosen.length === 1 ? `${name}: ${first}` : `${name}: ${first} +${chosen.length - 1}`;
}
