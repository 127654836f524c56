import { Table, Text, Title } from "@mantine/core";
import { isUnfinished } from "@/api/jobs";
import type { EvaluationWithEpisodes } from "@/api/types";
import { exact } from "@/ui/format";
import { Score } from "@/ui/Quantity";
import { WideTable } from "@/ui/WideTable";
import runClasses from "../run.module.css";
import classes from "./evaluations.module.css";

/** Table of the finished episodes of an evaluation. */
export function EpisodeTable({ evaluation }: { evaluation: EvaluationWithEpisodes }) {
  const { episodes, episodes_total: total, state } = evaluation;
  return (
    <section className={runClasses.card} aria-label="Episodes">
      <Title order={3} mb="xs">
        Episodes{isUnfinished(evaluation) && " so far"}
        {state !== "done" && `, ${episodes.length} of ${exact(total)}`}
      </Title>
      {isUnfinished(evaluation) && (
        <Text size="sm" c="dimmed" mb="xs">
          The mean and interval appear when all episodes have ended, because short episodes end first.
        </Text>
      )}
      <WideTable label="Table of episodes" className={classes.episodes}>
        <Table verticalSpacing={4} horizontalSpacing={6} className={runClasses.oneLine} stickyHeader>
          <Table.Thead>
            <Table.Tr>
              <Table.Th ta="right">Episode</Table.Th>
              <Table.Th ta="right">Score</Table.Th>
              <Table.Th
                ta="right"
                title="Emulator frames since the reset, including frames before the agent's first action"
              >
                Frames
              </Table.Th>
              <Table.Th ta="right" title="Agent steps">
                Length
              </Table.Th>
              <Table.Th>Ended</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {episodes.map((episode) => (
              <Table.Tr key={episode.number}>
                <Table.Td ta="right">{episode.number + 1}</Table.Td>
                <Table.Td ta="right">
                  <Score value={episode.score} meaning="Score" />
                </Table.Td>
                <Table.Td ta="right">{exact(episode.frames)}</Table.Td>
                <Table.Td ta="right">{exact(episode.length)}</Table.Td>
                <Table.Td>{episode.ended === "over" ? "game over" : "time limit"}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    </section>
  );
}
