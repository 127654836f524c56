import { ActionIcon, Text, Title } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useState } from "react";
import { useDeleteFutures } from "@/api/futures";
import type { FuturesSummary } from "@/api/types";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { capitalize, score } from "@/ui/format";
import { ForEditors } from "@/ui/mayEdit";
import { notifyDone } from "@/ui/notify";
import type { PlayableReplay } from "../places";
import classes from "./futures.module.css";
import { describeAgent, describeOptions, isByAnother, nameDecision } from "./words";

interface FuturesListProps {
  replay: PlayableReplay;
  list: readonly FuturesSummary[];
  chosen: number | null;
  onChoose: (futures: FuturesSummary) => void;
}

const STATES: Record<FuturesSummary["state"], string> = {
  queued: "waiting",
  running: "simulating",
  done: "done",
  failed: "failed",
  cancelled: "cancelled",
};

/** The simulations of a replay, newest first. */
export function FuturesList({ replay, list, chosen, onChoose }: FuturesListProps) {
  const remove = useDeleteFutures(replay);
  const [deleting, setDeleting] = useState<number | null>(null);
  const close = () => setDeleting(null);
  const confirm = (id: number) =>
    remove.mutate(id, { onSuccess: () => notifyDone("Simulation deleted."), onSettled: close });
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
              {futures.state === "done" ? `mean ${score(futures.mean)}` : STATES[futures.state]}
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
      <ConfirmModal
        opened={deleting !== null}
        title="Delete simulation?"
        action="Delete simulation"
        danger
        busy={remove.isPending}
        onConfirm={() => deleting !== null && confirm(deleting)}
        onClose={close}
      >
        <Text size="sm">This permanently deletes its futures. You can simulate them again.</Text>
      </ConfirmModal>
    </section>
  );
}
