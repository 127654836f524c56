import { CloseButton, Group } from "@mantine/core";
import { Link } from "react-router";
import { labelWithoutNumber, MAX_RUNS } from "@/api/comparisons";
import type { ComparedRun } from "@/api/types";
import classes from "./compare.module.css";
import { RunName } from "@/ui/RunName";
import { RunSearch } from "@/ui/RunSearch";
import { RunStroke } from "./RunStroke";

interface RunPickerProps {
  runs: readonly number[];
  known: readonly ComparedRun[];
  onChange: (runs: number[]) => void;
}

/** Compared runs with remove buttons, and a search for more. */
export function RunPicker({ runs, known, onChange }: RunPickerProps) {
  return (
    <Group gap={8} role="group" aria-label="Compared runs">
      <div className={classes.chips}>
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
      </div>
      {runs.length < MAX_RUNS && (
        <RunSearch
          label="Add a run"
          className={classes.add}
          runs={runs}
          onPick={(ids) => onChange([...runs, ...ids].slice(0, MAX_RUNS))}
        />
      )}
    </Group>
  );
}
