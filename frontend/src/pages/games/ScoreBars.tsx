import { gameFigureQuery } from "@/api/games";
import type { Game, ScoreTable } from "@/api/types";
import { FigureFrame } from "@/charts/FigureFrame";
import { plural } from "@/ui/format";

const ROW = 26;
const AXES = 64;
/** What the server draws at most. */
const MOST_RUNS = 20;

/** The scores of a table as bars. */
export function ScoreBars({ game, table }: { game: Game; table: ScoreTable }) {
  const runs = table.rows.filter(({ ours }) => ours).length;
  const bars = Math.min(runs, MOST_RUNS) + table.rows.length - runs;
  const points = () =>
    Promise.resolve({
      header: ["player", "score", "interval_low", "interval_high"],
      rows: table.rows.map(({ player, score, ours }) => [player, score, ...(ours?.interval ?? [null, null])]),
    });
  return (
    <FigureFrame
      title={runs > MOST_RUNS ? `Scores of the best ${MOST_RUNS} runs` : "Scores"}
      label={`Scores in ${game.name} by ${table.title} as bars: ${plural(bars, "player")}; the table says the same.`}
      query={gameFigureQuery(game.slug, table.protocol, table.starts)}
      zoom={null}
      onZoom={() => undefined}
      revision={table.protocol}
      legend={false}
      height={AXES + ROW * Math.max(3, bars)}
      empty="No score here is a number that can be drawn."
      file={`${game.slug}-${table.protocol.replaceAll(/\W+/g, "-")}`}
      points={points}
    />
  );
}
