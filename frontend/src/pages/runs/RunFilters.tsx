import { Button, Group, NativeSelect, Switch } from "@mantine/core";
import { IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { presetsQuery } from "@/api/configuration";
import { facetsQuery } from "@/api/runs";
import type { Run } from "@/api/types";
import { SearchField } from "@/ui/SearchField";
import { isState, STATE_NAMES, STATES } from "@/ui/states";
import { shortEnv } from "./columns";
import { FacetFilter, type FacetOption } from "./FacetFilter";
import classes from "./runs.module.css";
import { FACETS, isFiltered, NEWEST_FIRST, withoutFilters, type Facet, type RunsView } from "./view";

const NAMES: Record<Facet, string> = {
  state: "State",
  algorithm: "Method",
  env: "Environment",
  tag: "Tag",
};

/** For narrow screens, whose cards have no headers to click. */
const SORTS = [
  { value: NEWEST_FIRST, label: "Newest first" },
  { value: "created_at", label: "Oldest first" },
  { value: "-last_return", label: "Best last return" },
  { value: "-best_return", label: "Best return" },
  { value: "-steps_per_second", label: "Fastest" },
  { value: "-step", label: "Most steps" },
  { value: "name", label: "Name" },
];

/** The headers of a wide screen offer more. */
const sortsWith = (sort: string) =>
  SORTS.some(({ value }) => value === sort) ? SORTS : [...SORTS, { value: sort, label: "As in the table" }];

interface RunFiltersProps {
  view: RunsView;
  runs: readonly Run[];
  onChange: (changes: Partial<RunsView>, options?: { replace?: boolean }) => void;
}

/** Search, the four filters, the archive, and one way to clear them all. */
export function RunFilters({ view, runs, onChange }: RunFiltersProps) {
  const options = useFacetOptions(view.archived, runs);
  const [cleared, setCleared] = useState(0);
  return (
    <Group gap="xs" className={classes.filters} role="search" aria-label="Filter runs">
      {/* A field that is cleared begins anew: what was typed a moment ago is not searched for any more. */}
      <SearchField
        key={cleared}
        label="Search runs"
        placeholder="Search name, tag, game or number"
        className={classes.search}
        maxLength={200}
        text={view.text}
        onSearch={(text) => onChange({ text }, { replace: true })}
      />
      {FACETS.map((facet) => (
        <FacetFilter
          key={facet}
          name={NAMES[facet]}
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
        data={sortsWith(view.sort)}
      />
      {isFiltered(view) && (
        <Button
          variant="subtle"
          color="gray"
          size="xs"
          h={32}
          leftSection={<IconX size={14} />}
          onClick={() => {
            setCleared(cleared + 1);
            onChange(withoutFilters(view));
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

/** What any run has, not only one of those shown; states in the order that a run goes through them. */
function useFacetOptions(archived: boolean, runs: readonly Run[]): Record<Facet, FacetOption[]> {
  const { data } = useQuery(facetsQuery(archived));
  const { data: presets = [] } = useQuery(presetsQuery);
  const methods = new Map([
    ...presets.map(({ config, method }) => [String(config.algorithm), method] as const),
    ...runs.map(({ algorithm, method }) => [algorithm, method] as const),
  ]);
  const options = (facet: Facet, title: (value: string) => string) =>
    (data?.[facet] ?? []).map(({ value, runs: count }) => ({ value, label: title(value), count }));
  const inOrder = (value: string) => STATES.findIndex((state) => state === value);
  return {
    state: options("state", (state) => (isState(state) ? STATE_NAMES[state] : state)).sort(
      (a, b) => inOrder(a.value) - inOrder(b.value),
    ),
    algorithm: options("algorithm", (algorithm) => methods.get(algorithm) ?? algorithm).sort((a, b) =>
      a.label.localeCompare(b.label),
    ),
    env: options("env", shortEnv),
    tag: options("tag", (tag) => tag),
  };
}
