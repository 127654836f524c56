import { Link } from "react-router";
import { labelWithoutNumber } from "@/api/comparisons";
import type { ComparedRun } from "@/api/types";
import { RunName } from "@/ui/RunName";
import classes from "./compare.module.css";
import { RunStroke } from "./RunStroke";

/** A run at the head of a row or column: its line, what tells it from the others, its number. */
export function RunHead({ run }: { run: ComparedRun }) {
  const label = labelWithoutNumber(run);
  return (
    <span className={classes.head}>
      <RunStroke run={run} />
      <Link to={`/runs/${run.id}`} className={classes.chipName}>
        <RunName name={label} />
      </Link>
      <span className={classes.number}>#{run.id}</span>
    </span>
  );
}

/** A group at the head of a row: its line and its name. */
export function GroupHead({ group }: { group: { name: string; color: string; dash: string } }) {
  return (
    <span className={classes.head}>
      <RunStroke run={group} />
      <span>{group.name}</span>
    </span>
  );
}
