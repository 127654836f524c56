import { CloseButton, Group, Input } from "@mantine/core";
import { labelWithoutNumber, MAX_RUNS } from "@/api/comparisons";
import type { ComparedRun } from "@/api/types";
import { RunName } from "@/ui/RunName";
import { RunSearch } from "@/ui/RunSearch";
import classes from "./fields.module.css";

interface RunsFieldProps {
  runs: readonly number[];
  known: readonly ComparedRun[];
  /** True if a new run replaces the previous one. */
  single?: boolean;
  max?: number;
  /** Offer only runs of this environment. */
  env?: string;
  error?: string | undefined;
  onChange: (runs: number[]) => void;
}

/** Picked runs with remove buttons, and a search for more. */
export function RunsField({
  runs,
  known,
  single = false,
  max = MAX_RUNS,
  env,
  error,
  onChange,
}: RunsFieldProps) {
  return (
    <Input.Wrapper label={single ? "Run" : "Runs"} labelElement="div" error={error}>
      <Group gap={8} role="group" aria-label={single ? "Run picked" : "Runs picked"}>
        {runs.map((id) => {
          const run = known.find((candidate) => candidate.id === id);
          return (
            <span key={id} className={classes.chip}>
              {run ? <RunName name={labelWithoutNumber(run)} /> : "Run"}
              <span className={classes.chipNumber}>#{id}</span>
              <CloseButton
                size={24}
                iconSize={12}
                className={classes.chipOut}
                aria-label={`Remove run ${id}`}
                onClick={() => onChange(runs.filter((other) => other !== id))}
              />
            </span>
          );
        })}
        {runs.length < max && (
          <RunSearch
            label={single ? "Pick a run" : "Add a run"}
            className={classes.search}
            runs={runs}
            ranges={!single}
            env={env}
            onPick={(picked) => onChange(single ? picked.slice(0, 1) : [...runs, ...picked].slice(0, max))}
          />
        )}
      </Group>
    </Input.Wrapper>
  );
}
