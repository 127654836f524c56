import { Table, Text, Title } from "@mantine/core";
import type { Game, WaitingRun } from "@/api/types";
import { exact } from "@/ui/format";
import { NoPlayer } from "@/ui/NoPlayer";
import classes from "./games.module.css";
import { WaitingRow } from "./WaitingRow";

/** Runs without a score, with an evaluate button or the reason. */
export function WaitingRuns({ game }: { game: Game }) {
  const { waiting, waiting_total: total } = game;
  if (total === 0) return null;
  return (
    <section className={classes.card} aria-label="Runs without a score">
      <Title order={2}>Runs without a score</Title>
      <Text size="sm" c="dimmed" mt={4} mb={8} maw={860}>
        A worker plays the protocol's episodes from the newest checkpoint while it trains.
        {total > waiting.length && ` Newest ${waiting.length} of ${exact(total)} shown.`}
      </Text>
      {waiting.some(needsPlayer) && <NoPlayer />}
      <Table className={classes.ranking} verticalSpacing={6} horizontalSpacing="xs" mt={8}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Run</Table.Th>
            <Table.Th scope="col" ta="right">
              Score
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {waiting.map((run) => (
            <WaitingRow key={run.id} run={run} />
          ))}
        </Table.Tbody>
      </Table>
    </section>
  );
}

/** Return true if the run needs a worker for its evaluation. */
const needsPlayer = ({ has_checkpoint, evaluation }: WaitingRun) =>
  has_checkpoint || evaluation?.state === "queued";
