import { Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { runListQuery } from "@/api/runs";
import { parseRunNumbers } from "@/api/runNumbers";
import { stateName } from "./states";

const RANGE = "range";

interface RunSearchProps {
  label: string;
  /** Runs that are already picked and not offered again. */
  runs: readonly number[];
  /** True if a range such as 7-12 picks all of its runs. */
  ranges?: boolean;
  /** Offer only runs of this environment. */
  env?: string | undefined;
  onPick: (runs: number[]) => void;
  className?: string | undefined;
}

/** Search field for runs by number, name, game or tag. It offers the newest runs first. */
export function RunSearch({ label, runs, ranges = true, env, onPick, className }: RunSearchProps) {
  const [typed, setTyped] = useState("");
  const [text] = useDebouncedValue(typed.trim(), 250);
  const [opened, setOpened] = useState(false);
  // Fetch the list only during a search.
  const list = useInfiniteQuery({
    ...runListQuery({ text, ...(env && { env: [env] }), sort: "-created_at" }),
    enabled: opened,
  });
  const offered = (list.data?.pages.flatMap((page) => page.items) ?? []).filter(
    (run) => !runs.includes(run.id),
  );
  const inRange =
    ranges && /^[\d\s,–-]+$/.test(typed) ? parseRunNumbers(typed).filter((id) => !runs.includes(id)) : [];
  const range =
    inRange.length > 1 ? [{ value: RANGE, label: `Runs ${typed.trim()}: ${inRange.length}` }] : [];
  return (
    <Select
      aria-label={label}
      placeholder={ranges ? "Name, game, tag, or 7-12" : "Name, game, tag or number"}
      searchable
      value={null}
      searchValue={typed}
      onSearchChange={setTyped}
      onDropdownOpen={() => setOpened(true)}
      onDropdownClose={() => setOpened(false)}
      // The server has already searched more fields than the label.
      filter={({ options }) => options}
      data={[
        ...range,
        ...offered.map((run) => ({
          value: String(run.id),
          label: `${run.name} · ${run.env} · ${stateName(run).toLowerCase()} · ${run.id}`,
        })),
      ]}
      nothingFoundMessage={list.error?.message ?? (list.isPending ? "Searching…" : "No runs found")}
      onChange={(id) => {
        if (id !== null) onPick(id === RANGE ? inRange : [Number(id)]);
        setTyped("");
      }}
      className={className}
      maxDropdownHeight={320}
    />
  );
}
