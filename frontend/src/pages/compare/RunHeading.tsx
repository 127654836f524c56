import { Link } from "react-router";
import { labelWithoutNumber } from "@/api/comparisons";
import type { ComparedRun } from "@/api/types";
import { RunName } from "@/ui/RunName";
import classes from "./compare.module.css";
import { RunStroke } from "./RunStroke";

/** Header cell of a run with its line, label and number. */
export function RunHeading({ run }: { run: ComparedRun }) {
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

/** Header cell of a group with its line and name. */
export function GroupHeading({ group }: { group: { name: string; color: string; dash: string } }) {
  return (
    <span className={classes.head}>
      <RunStroke run={group} />
      <span>{group.name}</span>
    </span>
  );
}
