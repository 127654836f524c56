import { Text, Title } from "@mantine/core";
import { isUnfinished } from "@/api/jobs";
import type { EvaluationWithEpisodes } from "@/api/types";
import { DataTable } from "@/ui/DataTable";
import { exact } from "@/ui/format";
import { Score } from "@/ui/Quantity";
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
      <DataTable
        label="Table of episodes"
        frameClass={classes.episodes}
        verticalSpacing={4}
        horizontalSpacing={6}
        className={runClasses.oneLine}
        stickyHeader
        rows={episodes}
        rowKey={({ number }) => number}
        columns={[
          { title: "Episode", numeric: true, cell: ({ number }) => number + 1 },
          { title: "Score", numeric: true, cell: ({ score }) => <Score value={score} meaning="Score" /> },
          {
            title: "Frames",
            help: "Emulator frames since the reset, including frames before the agent's first action",
            numeric: true,
            cell: ({ frames }) => exact(frames),
          },
          { title: "Length", help: "Agent steps", numeric: true, cell: ({ length }) => exact(length) },
          { title: "Ended", cell: ({ ended }) => (ended === "over" ? "game over" : "time limit") },
        ]}
      />
    </section>
  );
}
