import { use } from "react";
import type { ListedRun } from "@/api/types";
import { score } from "@/ui/format";
import { type Delta, deltaOf, judge } from "./baseline";
import classes from "./CurveChoice.module.css";
import { CurveChoiceContext } from "./CurveChoice";

const MEANINGS = {
  better: "better than",
  worse: "worse than",
  neutral: "vs.",
};

interface BaselineDeltaProps {
  run: ListedRun;
  /** Id of the column. */
  column: string;
}

/** Difference to the baseline below a number. */
export function BaselineDelta({ run, column }: BaselineDeltaProps) {
  const baseline = use(CurveChoiceContext)?.baseline;
  return baseline ? <RunDelta run={run} baseline={baseline} column={column} /> : null;
}

/** Difference between two runs in a column, unless they are the same. */
export function RunDelta({ run, baseline, column }: BaselineDeltaProps & { baseline: ListedRun }) {
  const delta = baseline.id === run.id ? null : deltaOf(run, baseline, column);
  return delta && <DeltaText delta={delta} />;
}

/** A difference. The sign and the color say whether it is better. */
export function DeltaText({ delta, to = "the baseline" }: { delta: Delta; to?: string }) {
  const text = score(Math.abs(delta.value));
  const verdict = judge(delta);
  return (
    <span
      className={classes.delta}
      data-verdict={verdict}
      title={`${signOf(delta.value)}${text}, ${MEANINGS[verdict]} ${to}`}
    >
      {signOf(delta.value)}
      {text}
    </span>
  );
}

const signOf = (value: number) => (value > 0 ? "+" : value < 0 ? "−" : "");
