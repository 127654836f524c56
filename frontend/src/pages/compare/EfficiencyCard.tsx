import { Text } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { efficiencyFigureQuery } from "@/api/comparisons";
import type { Figure } from "@/api/types";
import { runsInFileName } from "@/api/runNumbers";
import type { Cell } from "@/charts/csv";
import type { Center } from "@/charts/curveView";
import { FigureFrame } from "@/charts/FigureFrame";
import classes from "./compare.module.css";

interface EfficiencyCardProps {
  runs: readonly number[];
  by: readonly string[];
  center: Center;
}

/** Scores of each group by step over all its runs and games. */
export function EfficiencyCard({ runs, by, center }: EfficiencyCardProps) {
  const client = useQueryClient();
  const query = efficiencyFigureQuery(runs, by, center);
  const points = async () => ({ header: HEADER, rows: cells(await client.ensureQueryData(query)) });
  return (
    <section className={classes.card} aria-label="Sample efficiency">
      <FigureFrame
        title="Sample efficiency"
        hint="Scores over all runs and games by step with the 95 % interval of the stratified bootstrap (rliable)"
        label="Scores by step of the runs of each group over all games."
        query={query}
        zoom={null}
        onZoom={() => undefined}
        revision=""
        legend
        height={320}
        empty="Some groups have no finished episode in some of their games yet."
        file={`sample-efficiency-${runsInFileName(runs)}`}
        points={points}
      />
      <Text size="xs" c="var(--arcadia-dim)" mt="xs">
        {center === "iqm" ? "Interquartile mean" : "Mean"} of the last 100 episodes of each run, up to the
        step that three runs of each group reached (or all runs, if fewer have finished an episode). Runs that
        differ only in seed and game form one group unless you choose other settings. Scores of several games
        are scaled to the lowest and highest score of these runs.
      </Text>
    </section>
  );
}

const HEADER = ["settings", "step", "score", "low", "high"];

/** Return the figure's lines and bands for a CSV file. */
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
