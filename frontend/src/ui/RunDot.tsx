import type { Run } from "@/api/types";
import classes from "./Run.module.css";

/** The colour that a run has everywhere: table, curves, comparison. */
export function RunDot({ run }: { run: Pick<Run, "color"> }) {
  return <span className={classes.dot} style={{ background: run.color }} aria-hidden />;
}
