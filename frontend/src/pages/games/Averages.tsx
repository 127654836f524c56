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
        {games.averages.map((average) => (
          <AverageCard key={average.protocol} average={average} />
        ))}
      </div>
      <PublishedAverages rows={games.published_averages} />
    </section>
  );
}

function AverageCard({ average }: { average: GameAverage }) {
  const { normalized_games: counted, normalized_by: tables } = average;
  return (
    <div className={classes.card}>
      <Tooltip label={average.sentence} multiline maw={360}>
        <Title order={2} size="h3">
          {average.title} <span className={classes.protocol}>{average.protocol}</span>
        </Title>
      </Tooltip>
      {counted > 0 ? (
        <>
          <dl className={classes.numbers}>
            <Number name="Median" value={average.median} />
            <Number name="Interquartile mean" value={average.interquartile_mean} />
            <Number name="Mean" value={average.mean} />
          </dl>
          <Text size="xs" c="dimmed">
            Human-normalized, over {plural(counted, "game")}, best run of each. Random is 0&nbsp;%, human is
            100&nbsp;% ({tables.map(({ source, table }) => `${source}, ${table}`).join("; ")}).{" "}
            {leftOut(average)}
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

function Number({ name, value }: { name: string; value: GameAverage["mean"] }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{humanPercent(value)}</dd>
    </div>
  );
}

function leftOut({ games, normalized_games: counted, short_games: few }: GameAverage): string {
  const said = [];
  if (games > counted) said.push(`${plural(games - counted, "game")} cannot be normalized.`);
  if (few > 0) said.push(`${plural(few, "score")} from fewer episodes than the protocol requires.`);
  return said.join(" ");
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
