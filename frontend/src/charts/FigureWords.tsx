import { Button } from "@mantine/core";
import { ApiError } from "@/api/problem";
import classes from "./charts.module.css";

interface FigureWordsProps {
  problem: Error | null;
  empty: boolean;
  retry: () => void;
}

/** What stands in a chart's place while there is none. */
export function FigureWords({ problem, empty, retry }: FigureWordsProps) {
  // 404: the runs have ended without this metric, and asking again would not help.
  const never = problem instanceof ApiError && problem.status === 404;
  return (
    <div className={classes.words}>
      {never && "No points: nothing was reported of this."}
      {empty && "No points yet. They appear here as soon as a run reports them."}
      {!empty && !problem && "Loading the curve…"}
      {!never && problem && (
        <>
          <span>The chart cannot be shown: {problem.message}</span>
          <Button size="compact-sm" variant="default" onClick={retry}>
            Try again
          </Button>
        </>
      )}
    </div>
  );
}
