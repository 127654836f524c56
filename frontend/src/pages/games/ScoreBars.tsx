import { gameFigureQuery } from "@/api/games";
import { byProject } from "@/api/projectFilter";
import type { Game, ScoreTable } from "@/api/types";
import { FigureFrame } from "@/charts/FigureFrame";
import { useCurrentProject } from "@/ui/currentProject";
import { plural } from "@/ui/format";

const ROW = 26;
const AXES = 64;
/** Bar chart of the ranked scores of a table. */
export function ScoreBars({ game, table }: { game: Game; table: ScoreTable }) {
  const project = useCurrentProject();
  const bars = table.rows.length;
  const points = () =>
    Promise.resolve({
      header: ["player", "score", "interval_low", "interval_high"],
      rows: table.rows.map(({ player, score, method }) => [
        player,
        score,
        ...(method?.interval ?? [null, null]),
      ]),
    });
  return (
    <FigureFrame
      title="Scores of methods"
      label={`Scores in ${game.name} by ${table.title} as bars: ${plural(bars, "player")}. The table has the same data.`}
      query={gameFigureQuery(game.slug, {
        protocol: table.protocol,
        starts: table.starts,
        ...byProject(project),
      })}
      zoom={null}
      onZoom={() => undefined}
      revision={table.protocol}
      legend={false}
      height={AXES + ROW * Math.max(3, bars)}
      empty="No score is a finite number."
      file={`${game.slug}-${table.protocol.replaceAll(/\W+/g, "-")}`}
      points={points}
    />
  );
}
