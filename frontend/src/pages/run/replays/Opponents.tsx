import { MultiSelect } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { runListQuery } from "@/api/queries";
import type { Run } from "@/api/types";
import { MOST_PANELS } from "./ensemble";

interface OpponentsProps {
  run: Run;
  others: readonly number[];
  onChange: (others: number[]) => void;
}

/** Other runs of the same game to race with, looked for by name, tag or number. */
export function Opponents({ run, others, onChange }: OpponentsProps) {
  const [typed, setTyped] = useState("");
  const [text] = useDebouncedValue(typed.trim(), 250);
  const [opened, setOpened] = useState(false);
  // As in a comparison: runs are fetched while one is looked for.
  const list = useInfiniteQuery({
    ...runListQuery({ text, env: [run.env], sort: "-created_at" }),
    enabled: opened,
  });
  const found = (list.data?.pages.flatMap((page) => page.items) ?? []).filter(({ id }) => id !== run.id);
  const named = found.map(({ id, name, method }) => ({
    value: String(id),
    label: `${name} · ${method} · ${id}`,
  }));
  const chosen = others.map(String);
  const missing = chosen.filter((id) => named.every(({ value }) => value !== id));
  return (
    <MultiSelect
      size="xs"
      miw={240}
      aria-label="Race with"
      placeholder={others.length === 0 ? "Race with another run" : undefined}
      searchable
      maxValues={MOST_PANELS - 1}
      value={chosen}
      searchValue={typed}
      onSearchChange={setTyped}
      onDropdownOpen={() => setOpened(true)}
      onDropdownClose={() => setOpened(false)}
      // The server has searched already, in more than the label.
      filter={({ options }) => options}
      data={[...named, ...missing.map((id) => ({ value: id, label: `Run ${id}` }))]}
      nothingFoundMessage={list.error?.message ?? (list.isPending ? "Looking…" : "No other run of this game")}
      onChange={(ids) => onChange(ids.map(Number))}
    />
  );
}
