import { Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { efficiencyFigureQuery } from "@/api/comparisons";
import type { Figure } from "@/api/types";
import type { Cell } from "@/charts/csv";
import type { Center } from "@/charts/curveView";
import { FigureFrame } from "@/charts/FigureFrame";
import classes from "./compare.module.css";

interface EfficiencyCardProps {
  runs: readonly number[];
  by: readonly string[];
  center: Center;
}

/** What settings score by step, over all their runs and games. */
export function EfficiencyCard({ runs, by, center }: EfficiencyCardProps) {
  const client = useQueryClient();
  const query = efficiencyFigureQuery(runs, by, center);
  const points = async () => ({ header: HEADER, rows: cells(await client.ensureQueryData(query)) });
  return (
    <section className={classes.card} aria-label="Sample efficiency">
      <FigureFrame
        title="Sample efficiency"
        hint="Scores over all runs and games by step, with the stratified bootstrap's 95 % interval (rliable)"
        label="What the runs of each of these settings score by step, over all games."
        query={query}
        zoom={null}
        onZoom={() => undefined}
        revision=""
        legend
        height={320}
        empty="Not every setting has a run with a finished episode in each of its games yet."
        file={`sample-efficiency-${runs.join("-")}`}
        points={points}
      />
      <Text size="xs" c="var(--arcadia-dim)" mt="xs">
        {center === "iqm" ? "Interquartile mean" : "Mean"} over runs of their last 100 episodes, to the step
        that three runs of each setting reached, or all where fewer have finished an episode. Runs that differ
        in seed and game alone count as one unless settings to group by are chosen; scores of several games
        are scaled from the least to the greatest among these runs.
      </Text>
    </section>
  );
}

const HEADER = ["settings", "step", "score", "low", "high"];

/** The lines of the figure with their bands, for a spreadsheet. */
function cells({ data }: Figure): Cell[][] {
  const heights = (uid: string) => data.find((trace) => trace["uid"] === uid)?.["y"] as number[] | undefined;
  return data
    .filter((trace) => String(trace["uid"]).endsWith("-line"))
    .flatMap((line) => {
      const group = String(line["legendgroup"]);
      const [low, high] = [heights(`${group}-low`), heights(`${group}-high`)];
      return (line["x"] as number[]).map((step, place) => [
        group,
        step,
        (line["y"] as number[])[place],
        low?.[place],
        high?.[place],
      ]);
    });
}
