import { Button } from "@mantine/core";
import { isNotFound, isUnknownMetric } from "@/api/problem";
import classes from "./charts.module.css";

interface FigureWordsProps {
  problem: Error | null;
  /** Message for a figure without data. */
  empty: string | null;
  /** Kind of figure, such as a chart. */
  noun: string;
  retry: () => void;
}

/** Message in place of a chart. */
export function FigureWords({ problem, empty, noun, retry }: FigureWordsProps) {
  const never = isUnknownMetric(problem);
  return (
    <div className={classes.words}>
      {never && "No points: these runs ended without reporting this metric."}
      {empty}
      {!empty && !problem && `Loading the ${noun}…`}
      {!never && problem && (
        <>
          <span>The chart cannot be shown: {problem.message}</span>
          {!isNotFound(problem) && (
            <Button size="compact-sm" variant="default" onClick={retry}>
              Try again
            </Button>
          )}
        </>
      )}
    </div>
  );
}
