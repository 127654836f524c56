import { Link } from "react-router";
import type { Run } from "@/api/types";
import { RunDot } from "@/ui/RunDot";
import classes from "./compare.module.css";

/** A run at the head of a row or column. */
export function RunHead({ run }: { run: Run }) {
  return (
    <span className={classes.head}>
      <RunDot run={run} />
      <Link to={`/runs/${run.id}`} className={classes.chipName} title={run.name}>
        {run.name}
      </Link>
      <span className={classes.number}>{run.id}</span>
    </span>
  );
}
