import { use } from "react";
import type { ListedRun } from "@/api/types";
import { score } from "@/ui/format";
import { deltaOf, judge } from "./baseline";
import classes from "./CurveChoice.module.css";
import { CurveChoiceContext } from "./CurveChoice";

const MEANINGS = {
  better: "better than the baseline",
  worse: "worse than the baseline",
  neutral: "vs. the baseline",
};

interface BaselineDeltaProps {
  run: ListedRun;
  /** Id of the column. */
  column: string;
}

/** Difference to the baseline below a number. The sign and the color say whether it is better. */
export function BaselineDelta({ run, column }: BaselineDeltaProps) {
  const baseline = use(CurveChoiceContext)?.baseline;
  if (!baseline || baseline.id === run.id) return null;
  const delta = deltaOf(run, baseline, column);
  if (!delta) return null;
  const text = score(Math.abs(delta.value));
  const verdict = judge(delta);
  return (
    <span
      className={classes.delta}
      data-verdict={verdict}
      title={`${signOf(delta.value)}${text}, ${MEANINGS[verdict]}`}
    >
      {signOf(delta.value)}
      {text}
    </span>
  );
}

const signOf = (value: number) => (value > 0 ? "+" : value < 0 ? "−" : "±");
