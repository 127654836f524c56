import { Anchor, Table, Text, Title, Tooltip } from "@mantine/core";
import type { GameAverage, Games, PublishedAverage } from "@/api/types";
import { humanPercent, plural } from "@/ui/format";
import { WideTable } from "@/ui/WideTable";
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
          <Table verticalSpacing={4} mt={4}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th scope="col">Method</Table.Th>
                {["Median", "Interquartile mean", "Mean"].map((name) => (
                  <Table.Th scope="col" ta="right" key={name}>
                    {name}
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {normalized.map((row) => (
                <Table.Tr key={row.algorithm}>
                  <Table.Td>
                    <div>{row.method}</div>
                    <div className={classes.dim}>{countedText(row)}</div>
                  </Table.Td>
                  {[row.median, row.interquartile_mean, row.mean].map((value, place) => (
                    <Table.Td ta="right" key={place}>
                      {humanPercent(value)}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
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
      <WideTable label="Published averages">
        <Table verticalSpacing={4} mt={8}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">Method</Table.Th>
              <Table.Th scope="col">Training</Table.Th>
              <Table.Th scope="col" ta="right">
                Median
              </Table.Th>
              <Table.Th scope="col" ta="right">
                Mean
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={`${row.method} ${row.training_time}`}>
                <Table.Td>{row.method}</Table.Td>
                <Table.Td>{row.training_time}</Table.Td>
                <Table.Td ta="right">{humanPercent(row.median)}</Table.Td>
                <Table.Td ta="right">{humanPercent(row.mean)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
      <Text size="xs" c="dimmed" mt={8}>
        {first.source}, {first.table}.
      </Text>
    </details>
  );
}
