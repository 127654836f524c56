import { MultiSelect } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useInfiniteQuery, useQueries } from "@tanstack/react-query";
import { useState } from "react";
import { runListQuery, runQuery } from "@/api/runs";
import type { Run } from "@/api/types";
import { MOST_PANELS } from "./ensemble";

interface OpponentsProps {
  run: Run;
  others: readonly number[];
  onChange: (others: number[]) => void;
}

/** Selection of other runs of the same game, with a search by name, tag or number. */
export function Opponents({ run, others, onChange }: OpponentsProps) {
  const [typed, setTyped] = useState("");
  const [text] = useDebouncedValue(typed.trim(), 250);
  const [opened, setOpened] = useState(false);
  // Fetch runs only during a search, as in a comparison.
  const list = useInfiniteQuery({
    ...runListQuery({ text, env: [run.env], sort: "-created_at" }),
    enabled: opened,
  });
  const found = (list.data?.pages.flatMap((page) => page.items) ?? []).filter(({ id }) => id !== run.id);
  const chosen = useQueries({ queries: others.map((id) => runQuery(id)) });
  const missing = others.flatMap((id, at) =>
    found.some((one) => one.id === id) ? [] : optionOf(chosen[at]?.data ?? { id }),
  );
  return (
    <MultiSelect
      size="xs"
      miw={240}
      aria-label="Race with"
      placeholder={others.length === 0 ? "Race with another run" : undefined}
      searchable
      maxValues={MOST_PANELS - 1}
      value={others.map(String)}
      searchValue={typed}
      onSearchChange={setTyped}
      onDropdownOpen={() => setOpened(true)}
      onDropdownClose={() => setOpened(false)}
      // Keep all options, because the server has already searched more than the label.
      filter={({ options }) => options}
      data={[...found.map(optionOf), ...missing]}
      nothingFoundMessage={
        list.error?.message ?? (list.isPending ? "Searching…" : "No other run of this game")
      }
      onChange={(ids) => onChange(ids.map(Number))}
    />
  );
}

/** Return a run's name and method, or only its number while it loads. */
const optionOf = ({ id, name, method }: Pick<Run, "id"> & Partial<Pick<Run, "name" | "method">>) => ({
  value: String(id),
  label: name === undefined ? `Run ${id}` : `${name} · ${method} · ${id}`,
});
