import { Button, CloseButton, Group, Text } from "@mantine/core";
import { useId, useState } from "react";
import { Link } from "react-router";
import { labelWithoutNumber, MAX_RUNS } from "@/api/comparisons";
import type { ComparedRun } from "@/api/types";
import { plural } from "@/ui/format";
import classes from "./compare.module.css";
import { RunName } from "@/ui/RunName";
import { RunSearch } from "@/ui/RunSearch";
import { RunStroke } from "./RunStroke";

/** More runs than this are first shown as one line. On a phone, all are. */
const MAX_CHIPS = 8;

interface RunPickerProps {
  runs: readonly number[];
  known: readonly ComparedRun[];
  onChange: (runs: number[]) => void;
}

/** Compared runs with remove buttons, and a search for more. Many runs are one line until they are requested. */
export function RunPicker({ runs, known, onChange }: RunPickerProps) {
  const [showsAll, setShowsAll] = useState(false);
  const list = useId();
  const isMany = runs.length > MAX_CHIPS;
  return (
    <Group gap={8} role="group" aria-label="Compared runs">
      {runs.length > 0 && (
        <Group gap="xs" className={classes.count} hiddenFrom={isMany ? undefined : "sm"}>
          <Text size="sm">{describeRuns(runs, known)}</Text>
          <Button
            size="compact-sm"
            variant="subtle"
            aria-expanded={showsAll}
            aria-controls={list}
            onClick={() => setShowsAll(!showsAll)}
          >
            {showsAll ? "Hide runs" : "Show all"}
          </Button>
        </Group>
      )}
      {(!isMany || showsAll) && (
        <div
          id={list}
          className={classes.chips}
          data-many={isMany || undefined}
          data-open={showsAll || undefined}
        >
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
      )}
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

/** Return how many runs there are of each method: "50 runs: PAAC 20, A3C 30". */
function describeRuns(runs: readonly number[], known: readonly ComparedRun[]): string {
  const methods = new Map<string, number>();
  for (const { method } of known) methods.set(method, (methods.get(method) ?? 0) + 1);
  const counts = [...methods].map(([method, count]) => `${method} ${count}`).join(", ");
  const environments = new Set(known.map(({ env }) => env)).size;
  const places = environments > 1 ? ` in ${plural(environments, "environment")}` : "";
  return `${plural(runs.length, "run")}${counts && `: ${counts}`}${places}`;
}
