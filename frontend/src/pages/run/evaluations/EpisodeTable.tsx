import { Table, Title } from "@mantine/core";
import type { EvaluationWithEpisodes } from "@/api/types";
import { exact } from "@/ui/format";
import { Score } from "@/ui/Quantity";
import { WideTable } from "@/ui/WideTable";
import runClasses from "../run.module.css";
import classes from "./evaluations.module.css";

/** Every episode of an evaluation, in order. */
export function EpisodeTable({ episodes }: Pick<EvaluationWithEpisodes, "episodes">) {
  return (
    <section className={runClasses.card} aria-label="Episodes">
      <Title order={3} mb="xs">
        Episodes
      </Title>
      <WideTable label="Table of episodes" className={classes.episodes}>
        <Table verticalSpacing={4} horizontalSpacing={6} className={runClasses.oneLine} stickyHeader>
          <Table.Thead>
            <Table.Tr>
              <Table.Th ta="right">Episode</Table.Th>
              <Table.Th ta="right">Score</Table.Th>
              <Table.Th
                ta="right"
                title="Emulator frames since the reset, with those before the agent took over"
              >
                Frames
              </Table.Th>
              <Table.Th ta="right" title="Decisions of the agent">
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
                <Table.Td>{episode.ended === "over" ? "by itself" : "cut off"}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    </section>
  );
}
