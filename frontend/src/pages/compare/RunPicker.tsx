import { CloseButton, Group, Select } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { MOST_RUNS } from "@/api/comparisons";
import { runListQuery } from "@/api/queries";
import { numbersIn } from "@/api/runNumbers";
import type { ComparedRun } from "@/api/types";
import { stateName } from "@/ui/states";
import classes from "./compare.module.css";
import { RunName } from "@/ui/RunName";
import { labelWithoutNumber } from "./comparison";
import { RunStroke } from "./RunStroke";

interface RunPickerProps {
  runs: readonly number[];
  known: readonly ComparedRun[];
  onChange: (runs: number[]) => void;
}

/** The runs compared, each with a way out, and a search for more. */
export function RunPicker({ runs, known, onChange }: RunPickerProps) {
  return (
    <Group gap={8} role="group" className={classes.chips} aria-label="Runs compared">
      {runs.map((id) => {
        const run = known.find((candidate) => candidate.id === id);
        return (
          <span key={id} className={classes.chip}>
            {run && <RunStroke run={run} />}
            <Link to={`/runs/${id}`} className={classes.chipName}>
              {run ? <RunName name={labelWithoutNumber(run)} /> : `Run ${id}`}
            </Link>
            {run && <span className={classes.number}>#{id}</span>}
            <CloseButton
              size={24}
              iconSize={12}
              className={classes.out}
              aria-label={`Remove run ${id} from the comparison`}
              onClick={() => onChange(runs.filter((other) => other !== id))}
            />
          </span>
        );
      })}
      {runs.length < MOST_RUNS && (
        <AddRun runs={runs} onAdd={(ids) => onChange([...runs, ...ids].slice(0, MOST_RUNS))} />
      )}
    </Group>
  );
}

const RANGE = "range";

function AddRun({ runs, onAdd }: { runs: readonly number[]; onAdd: (ids: number[]) => void }) {
  const [typed, setTyped] = useState("");
  const [text] = useDebouncedValue(typed.trim(), 250);
  const [opened, setOpened] = useState(false);
  // All runs are fetched while one is looked for, not for as long as some are compared.
  const list = useInfiniteQuery({ ...runListQuery({ text, sort: "-created_at" }), enabled: opened });
  const offered = (list.data?.pages.flatMap((page) => page.items) ?? []).filter(
    (run) => !runs.includes(run.id),
  );
  // "7-12" or "3, 5, 9" adds them all.
  const several = /^[\d\s,–-]+$/.test(typed) ? numbersIn(typed).filter((id) => !runs.includes(id)) : [];
  const range =
    several.length > 1 ? [{ value: RANGE, label: `Runs ${typed.trim()}: ${several.length}` }] : [];
  return (
    <Select
      aria-label="Add a run"
      placeholder="Add runs: name, game, tag, or 7-12"
      searchable
      value={null}
      searchValue={typed}
      onSearchChange={setTyped}
      onDropdownOpen={() => setOpened(true)}
      onDropdownClose={() => setOpened(false)}
      // The server has searched already, in more than the label.
      filter={({ options }) => options}
      data={[
        ...range,
        ...offered.map((run) => ({
          value: String(run.id),
          label: `${run.name} · ${run.env} · ${stateName(run).toLowerCase()} · ${run.id}`,
        })),
      ]}
      nothingFoundMessage={list.error?.message ?? (list.isPending ? "Looking…" : "No such run")}
      onChange={(id) => {
        if (id !== null) onAdd(id === RANGE ? several : [Number(id)]);
        setTyped("");
      }}
      className={classes.add}
      maxDropdownHeight={320}
    />
  );
}
