import { Button, Checkbox, Combobox, Group, NativeSelect, Switch, Text, useCombobox } from "@mantine/core";
import { IconChevronDown, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { presetsQuery } from "@/api/configuration";
import { facetsQuery } from "@/api/runs";
import type { ListedRun } from "@/api/types";
import { useCurrentProject } from "@/ui/currentProject";
import { FilterField } from "@/ui/FilterField";
import { exact, plural, shortEnv } from "@/ui/format";
import { SearchField } from "@/ui/SearchField";
import { isOrigin, isState, ORIGIN_NAMES, STATE_NAMES, STATES } from "@/ui/states";
import { NEWEST_FIRST } from "./sorting";
import { clearFilters, type Facet, FACETS, isFiltered, type RunsView, toggleValue } from "./view";
import classes from "./runs.module.css";

const FACET_NAMES: Record<Facet, string> = {
  state: "State",
  algorithm: "Method",
  env: "Environment",
  tag: "Tag",
  origin: "Origin",
};

/** Values from which a facet is offered. The others are always there. */
const MIN_CHOICES: Partial<Record<Facet, number>> = { origin: 2 };

/** Sort orders for narrow screens, where cards have no headers. */
const SORT_OPTIONS = [
  { value: NEWEST_FIRST, label: "Newest first" },
  { value: "created_at", label: "Oldest first" },
  { value: "-last_return", label: "Best last return" },
  { value: "-best_return", label: "Best return" },
  { value: "-steps_per_second", label: "Fastest" },
  { value: "-step", label: "Most steps" },
  { value: "name", label: "Name" },
];

/** Add the current order if only the table offers it. */
const sortOptionsWith = (sort: string) =>
  SORT_OPTIONS.some(({ value }) => value === sort)
    ? SORT_OPTIONS
    : [...SORT_OPTIONS, { value: sort, label: "Table order" }];

interface RunFiltersProps {
  view: RunsView;
  runs: readonly ListedRun[];
  onChange: (changes: Partial<RunsView>, options?: { replace?: boolean }) => void;
}

/** Search, filters, the archive switch, and a button that clears all filters. */
export function RunFilters({ view, runs, onChange }: RunFiltersProps) {
  const options = useFacetOptions(view.archived, runs);
  const [clearCount, setClearCount] = useState(0);
  return (
    <Group gap="xs" className={classes.filters} role="search" aria-label="Filter runs">
      {/* Remount the field when it is cleared, so that a pending search is dropped. */}
      <SearchField
        key={clearCount}
        label="Search runs"
        placeholder="Search name, tag, game or number"
        className={classes.search}
        maxLength={200}
        text={view.text}
        onSearch={(text) => onChange({ text }, { replace: true })}
      />
      <FilterField
        key={`filter ${clearCount}`}
        filter={view.filter}
        onFilter={(filter) => onChange({ filter })}
      />
      {FACETS.filter((facet) => isOffered(facet, options, view)).map((facet) => (
        <FacetFilter
          key={facet}
          name={FACET_NAMES[facet]}
          options={options[facet]}
          chosen={view[facet]}
          onChange={(chosen) => onChange({ [facet]: chosen })}
        />
      ))}
      <NativeSelect
        size="xs"
        hiddenFrom="sm"
        aria-label="Sort runs"
        value={view.sort}
        onChange={(event) => onChange({ sort: event.currentTarget.value })}
        data={sortOptionsWith(view.sort)}
      />
      {isFiltered(view) && (
        <Button
          variant="subtle"
          color="gray"
          size="xs"
          h={32}
          leftSection={<IconX size={14} />}
          onClick={() => {
            setClearCount(clearCount + 1);
            onChange(clearFilters(view));
          }}
        >
          Clear all
        </Button>
      )}
      <Switch
        label="Archived"
        size="xs"
        checked={view.archived}
        onChange={(event) => onChange({ archived: event.currentTarget.checked })}
      />
    </Group>
  );
}

/** Return true for a facet with a choice. Without reported runs, there is only one origin. */
function isOffered(facet: Facet, options: Record<Facet, FacetOption[]>, view: RunsView): boolean {
  if (view[facet].length > 0) return true;
  return options[facet].length >= (MIN_CHOICES[facet] ?? 0);
}

/** Return the values of all runs of the project, not only of the loaded ones. States are in lifecycle order. */
function useFacetOptions(archived: boolean, runs: readonly ListedRun[]): Record<Facet, FacetOption[]> {
  const { data } = useQuery(facetsQuery(archived, useCurrentProject()));
  const { data: presets = [] } = useQuery(presetsQuery);
  const methods = new Map([
    ...presets.map(({ config, method }) => [String(config.algorithm), method] as const),
    ...runs.map(({ algorithm, method }) => [algorithm, method] as const),
  ]);
  const options = (facet: Facet, title: (value: string) => string) =>
    (data?.[facet] ?? []).map(({ value, runs: count }) => ({ value, label: title(value), count }));
  const stateRank = (value: string) => STATES.findIndex((state) => state === value);
  return {
    state: options("state", (state) => (isState(state) ? STATE_NAMES[state] : state)).sort(
      (a, b) => stateRank(a.value) - stateRank(b.value),
    ),
    algorithm: options("algorithm", (algorithm) => methods.get(algorithm) ?? algorithm).sort((a, b) =>
      a.label.localeCompare(b.label),
    ),
    env: options("env", shortEnv),
    tag: options("tag", (tag) => tag),
    origin: options("origin", (origin) => (isOrigin(origin) ? ORIGIN_NAMES[origin] : origin)),
  };
}

interface FacetOption {
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
