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
  // 404: none of the runs has this metric, and asking again would not help.
  const nothing = empty || (problem instanceof ApiError && problem.status === 404);
  return (
    <div className={classes.words}>
      {nothing && "No points yet. They appear here as soon as a run reports them."}
      {!nothing && !problem && "Loading the curve…"}
      {!nothing && problem && (
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
