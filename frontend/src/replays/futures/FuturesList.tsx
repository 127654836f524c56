import { ActionIcon, Text, Title } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { futuresKeys } from "@/api/futures";
import { useDeleteJob } from "@/api/jobs";
import type { FuturesSummary } from "@/api/types";
import { capitalize, score } from "@/ui/format";
import { DeleteJobModal } from "@/ui/JobControls";
import { jobStateName } from "@/ui/JobState";
import { ForEditors } from "@/ui/mayEdit";
import type { PlayableReplay } from "../places";
import { describeAgent, describeOptions, isByAnother, nameDecision } from "./words";
import classes from "./futures.module.css";

interface FuturesListProps {
  replay: PlayableReplay;
  list: readonly FuturesSummary[];
  chosen: number | null;
  onChoose: (futures: FuturesSummary) => void;
}

/** The simulations of a replay, newest first. */
export function FuturesList({ replay, list, chosen, onChoose }: FuturesListProps) {
  const remove = useDeleteJob("futures", [futuresKeys.list(replay)]);
  const [deleting, setDeleting] = useState<number | null>(null);
  return (
    <section aria-label="Simulations of this replay">
      <Title order={3} size="sm" mb={4}>
        Simulations of this replay
      </Title>
      <ul className={classes.list}>
        {list.map((futures) => (
          <li key={futures.id}>
            <button
              type="button"
              className={classes.open}
              aria-pressed={futures.id === chosen}
              onClick={() => onChoose(futures)}
            >
              {capitalize(nameDecision(futures.decision))}:{" "}
              {futures.state === "done"
                ? `mean ${score(futures.mean)}`
                : jobStateName(futures.state, "futures").toLowerCase()}
              <Text component="span" size="xs" c="dimmed" display="block">
                {describeOptions(futures)}
                {isByAnother(futures, replay) && `, ${describeAgent(futures)}`}
              </Text>
            </button>
            <ForEditors>
              <ActionIcon
                variant="subtle"
                color="gray"
                size={32}
                aria-label={`Delete the simulation from ${nameDecision(futures.decision)}`}
                onClick={() => setDeleting(futures.id)}
              >
                <IconTrash size={16} aria-hidden />
              </ActionIcon>
            </ForEditors>
          </li>
        ))}
      </ul>
      <DeleteJobModal
        job={deleting}
        noun="simulation"
        mutation={remove}
        done="Simulation deleted."
        onClose={() => setDeleting(null)}
      >
        This permanently deletes its futures. You can simulate them again.
      </DeleteJobModal>
    </section>
  );
}
