import { Anchor, Text, Title, Tooltip } from "@mantine/core";
import type { GameAverage, Games, PublishedAverage } from "@/api/types";
import { DataTable } from "@/ui/DataTable";
import { humanPercent, plural } from "@/ui/format";
import classes from "./games.module.css";

/** Human-normalized scores over the games, with one card per protocol, because protocols are not comparable. */
export function Averages({ games }: { games: Games }) {
  return (
    <section aria-label="Over the games">
      <div className={classes.averages}>
        {protocolsOf(games.averages).map((averages) => (
          <AverageCard key={averages[0].protocol} averages={averages} />
        ))}
      </div>
      <PublishedAverages rows={games.published_averages} />
    </section>
  );
}

type OfProtocol = readonly [GameAverage, ...GameAverage[]];

/** Return the averages of the methods of each protocol. */
function protocolsOf(averages: readonly GameAverage[]): OfProtocol[] {
  const found = new Map<string, [GameAverage, ...GameAverage[]]>();
  for (const average of averages) {
    const others = found.get(average.protocol);
    if (others) others.push(average);
    else found.set(average.protocol, [average]);
  }
  return [...found.values()];
}

function AverageCard({ averages }: { averages: OfProtocol }) {
  const [average] = averages;
  const normalized = averages.filter(({ normalized_games: counted }) => counted > 0);
  const tables = new Set(
    averages.flatMap(({ normalized_by: by }) => by.map(({ source, table }) => `${source}, ${table}`)),
  );
  return (
    <div className={classes.card}>
      <Tooltip label={average.sentence} multiline maw={360}>
        <Title order={2} size="h3">
          {average.title} <span className={classes.protocol}>{average.protocol}</span>
        </Title>
      </Tooltip>
      {normalized.length > 0 ? (
        <>
          <DataTable
            verticalSpacing={4}
            mt={4}
            rows={normalized}
            rowKey={({ algorithm }) => algorithm}
            columns={[
              {
                title: "Method",
                cell: (row) => (
                  <>
                    <div>{row.method}</div>
                    <div className={classes.dim}>{countedText(row)}</div>
                  </>
                ),
              },
              { title: "Median", numeric: true, cell: ({ median }) => humanPercent(median) },
              {
                title: "Interquartile mean",
                numeric: true,
                cell: ({ interquartile_mean }) => humanPercent(interquartile_mean),
              },
              { title: "Mean", numeric: true, cell: ({ mean }) => humanPercent(mean) },
            ]}
          />
          <Text size="xs" c="dimmed" mt={4}>
            Human-normalized means over all runs of a method in each game. Compare only methods with the same
            games. Random is 0&nbsp;%, human is 100&nbsp;% ({[...tables].join("; ")}).
          </Text>
        </>
      ) : (
        <Text size="sm" c="dimmed" mt={4}>
          {plural(average.games, "game")} with a score. The papers have no random and higher human score for
          them by this protocol, so there is no average.
        </Text>
      )}
    </div>
  );
}

function countedText({ games, normalized_games: counted, runs }: GameAverage): string {
  const left = games > counted ? `, ${games - counted} more cannot be normalized` : "";
  return `${plural(counted, "game")}, ${plural(runs, "run")}${left}`;
}

/** Averages from the papers. They use another protocol and are shown separately. */
function PublishedAverages({ rows }: { rows: readonly PublishedAverage[] }) {
  const [first] = rows;
  if (!first) return null;
  return (
    <details className={classes.papers}>
      <summary>
        <Anchor component="span" size="sm">
          Published averages over 57 games
        </Anchor>{" "}
        <span className={classes.protocol}>{first.protocol}</span>
      </summary>
      <DataTable
        label="Published averages"
        verticalSpacing={4}
        mt={8}
        rows={rows}
        rowKey={({ method, training_time }) => `${method} ${training_time}`}
        columns={[
          { title: "Method", cell: ({ method }) => method },
          { title: "Training", cell: ({ training_time }) => training_time },
          { title: "Median", numeric: true, cell: ({ median }) => humanPercent(median) },
          { title: "Mean", numeric: true, cell: ({ mean }) => humanPercent(mean) },
        ]}
      />
      <Text size="xs" c="dimmed" mt={8}>
        {first.source}, {first.table}.
      </Text>
    </details>
  );
}
