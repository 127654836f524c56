import { Anchor, Table, Text, Title, Tooltip } from "@mantine/core";
import type { GameAverage, Games, PublishedAverage } from "@/api/types";
import { humanPercent, plural } from "@/ui/format";
import { WideTable } from "@/ui/WideTable";
import classes from "./games.module.css";

/** Human-normalised scores over the games, a card for each protocol: unlike ones are never mixed. */
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
  const { normalised_games: counted, normalised_by: tables } = average;
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
            Human-normalised, over {plural(counted, "game")}, the best run of each; random is 0&nbsp;%, the
            human 100&nbsp;% ({tables.map(({ source, table }) => `${source}, ${table}`).join("; ")}).{" "}
            {leftOut(average)}
          </Text>
        </>
      ) : (
        <Text size="sm" c="dimmed" mt={4}>
          {plural(average.games, "game")} with a score. None here has both a random score and a higher human
          score by this protocol in the papers, so there is no average over games.
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

function leftOut({ games, normalised_games: counted, short_games: few }: GameAverage): string {
  const said = [];
  if (games > counted) said.push(`${plural(games - counted, "game")} cannot be normalised.`);
  if (few > 0) said.push(`${plural(few, "score")} from fewer episodes than the protocol has.`);
  return said.join(" ");
}

/** What the papers say of their methods; of another protocol, so apart from ours. */
function PublishedAverages({ rows }: { rows: readonly PublishedAverage[] }) {
  const [first] = rows;
  if (!first) return null;
  return (
    <details className={classes.papers}>
      <summary>
        <Anchor component="span" size="sm">
          What the papers report over 57 games
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
