import type { Run } from "@/api/types";
import classes from "./Run.module.css";

/** Dot in the run's color, which is the same on all pages. */
export function RunDot({ run }: { run: Pick<Run, "color"> }) {
  return <span className={classes.dot} style={{ background: run.color }} aria-hidden />;
}
