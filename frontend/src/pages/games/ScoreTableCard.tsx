import { Text, Title } from "@mantine/core";
import type { Game, ScoreTable } from "@/api/types";
import { score } from "@/ui/format";
import classes from "./games.module.css";
import { ScoreBars } from "./ScoreBars";
import { ScoreRows } from "./ScoreRows";

interface ScoreTableCardProps {
  game: Game;
  table: ScoreTable;
  level: 2 | 3;
}

/** Fewer bars add nothing to the table. */
const MIN_BARS = 3;

export const hasBars = ({ rows }: ScoreTable): boolean => rows.length >= MIN_BARS;

/** Scores by one protocol with its description, ranking and bars. */
export function ScoreTableCard({ game, table, level }: ScoreTableCardProps) {
  const by = table.normalized_by;
  return (
    <section className={classes.card} aria-label={table.title}>
      <Title order={level} size="h2">
        {table.title} {table.sentence && <span className={classes.protocol}>{table.protocol}</span>}
      </Title>
      {table.apart_because && (
        <Text size="sm" mt={4} maw={860}>
          {table.apart_because}
        </Text>
      )}
      <Text size="sm" c="dimmed" mt={4} maw={860}>
        {table.sentence}{" "}
        {by &&
          `“Of human” is 0 % at the random score of ${score(by.random)} and 100 % at the human score of ${score(by.human)} (${by.source}, ${by.table}).`}
        {!by && table.sentence && `No human-normalized score: ${table.not_normalized_because}.`}
        {table.protocol === "human-starts" &&
          " The papers' start points were not published. Each run names its own."}
        {table.starts && ` All scores are from the same start points: ${table.starts.slice(0, 8)}.`}
      </Text>
      <div className={hasBars(table) ? classes.both : classes.alone}>
        <div>
          <ScoreRows table={table} />
        </div>
        {hasBars(table) && <ScoreBars game={game} table={table} />}
      </div>
    </section>
  );
}
