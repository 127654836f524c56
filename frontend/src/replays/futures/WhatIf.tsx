import { ActionIcon, CloseButton, Group, Text, Title } from "@mantine/core";
import { IconArrowsSplit2, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { futuresKeys, futuresQuery, futuresResultQuery } from "@/api/futures";
import { useDeleteJob } from "@/api/jobs";
import { keptGamesOfReplayQuery } from "@/api/liveGames";
import type { FuturesSummary, KeptGame } from "@/api/types";
import { KeptList } from "@/stage/KeptGames";
import { BlockableButton } from "@/ui/BlockableButton";
import { capitalize, score } from "@/ui/format";
import { DeleteJobModal } from "@/ui/JobControls";
import { jobStateName } from "@/ui/JobState";
import { ForEditors } from "@/ui/mayEdit";
import { QueryError } from "@/ui/QueryError";
import { useCatchFocus } from "@/ui/useCatchFocus";
import { pictureAt, type Playhead } from "../clock";
import type { PlayableReplay } from "../places";
import { decisionAt, type Thoughts } from "../track";
import type { Playback } from "../usePlayback";
import type { Steps } from "../useSteps";
import { useDecision } from "../useThoughts";
import { FuturesForm } from "./FuturesForm";
import { FuturesResult } from "./FuturesResult";
import { compareWithGames, describeAgent, describeOptions, isByAnother, nameDecision } from "./words";
import classes from "./futures.module.css";

interface WhatIfProps {
  replay: PlayableReplay;
  env: string;
  thoughts: Thoughts;
  head: Playhead;
  playback: Playback;
  steps: Steps;
  onClose: () => void;
}

/** Panel that simulates how a replay could continue, with the results. */
export function WhatIf({ replay, env, thoughts, head, playback, steps, onClose }: WhatIfProps) {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.focus(), []);
  const query = useQuery(futuresQuery(replay));
  const [chosen, setChosen] = useState<number | null>(null);
  const list = query.data ?? [];
  const shown = list.find(({ id }) => id === chosen);
  const { numbers_kind, action_names, pictures_per_second } = thoughts.head;
  return (
    <section ref={panel} tabIndex={-1} className={classes.panel} aria-label="What if">
      <Group className={classes.head} justify="space-between" wrap="nowrap">
        <Title order={2} size="h3">
          What if… from <Here thoughts={thoughts} head={head} />
        </Title>
        <CloseButton size={32} aria-label="Close What if" onClick={onClose} />
      </Group>
      <FuturesForm
        replay={replay}
        env={env}
        names={numbers_kind === "gaussian" ? [] : action_names}
        now={() => decisionAt(thoughts.picture, pictureAt(head.seconds, pictures_per_second))}
        onRequested={setChosen}
      />
      <div className={classes.result}>
        {query.isError && !query.data && (
          <QueryError error={query.error} retry={() => void query.refetch()} />
        )}
        {shown ? (
          <FuturesResult
            key={shown.id}
            replay={replay}
            futures={shown}
            original={{
              playback,
              head,
              start: Number(thoughts.picture[shown.decision]) / pictures_per_second,
              seek: () => steps.toDecision(shown.decision),
            }}
            others={list.filter((each) => each.id !== shown.id && each.decision === shown.decision)}
            taken={action_names[Number(thoughts.action[shown.decision])]}
          />
        ) : (
          <Text size="sm" c="dimmed">
            A worker plays many futures from this moment, each with other random numbers. Their average
            estimates the error of the value, and can show that another action is better.
          </Text>
        )}
        <YourGames replay={replay} list={list} chosen={chosen} />
        {list.length > 0 && (
          <FuturesList
            replay={replay}
            list={list}
            chosen={chosen}
            onChoose={({ id, decision }) => {
              setChosen(id);
              steps.toDecision(decision);
            }}
          />
        )}
      </div>
    </section>
  );
}

const Here = ({ thoughts, head }: Pick<WhatIfProps, "thoughts" | "head">) =>
  nameDecision(useDecision(thoughts, head));

interface WhatIfButtonProps {
  opened: boolean;
  /** Reason why futures are unavailable. */
  blocked: string | null;
  onToggle: () => void;
}

/** Button that opens the panel for futures. */
export function WhatIfButton({ opened, blocked, onToggle }: WhatIfButtonProps) {
  const button = useCatchFocus<HTMLButtonElement>(!opened);
  return (
    <BlockableButton
      ref={button}
      blocked={blocked}
      tooltip="Simulate how the game could continue from here"
      size="compact-sm"
      variant={opened ? "light" : "default"}
      leftSection={<IconArrowsSplit2 size={14} aria-hidden />}
      aria-expanded={opened}
      onClick={onToggle}
    >
      What if…
    </BlockableButton>
  );
}

interface FuturesListProps {
  replay: PlayableReplay;
  list: readonly FuturesSummary[];
  chosen: number | null;
  onChoose: (futures: FuturesSummary) => void;
}

/** The simulations of a replay, newest first. */
function FuturesList({ replay, list, chosen, onChoose }: FuturesListProps) {
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

interface YourGamesProps {
  replay: PlayableReplay;
  /** The simulations of the replay, newest first. */
  list: readonly FuturesSummary[];
  chosen: number | null;
}

/** Kept games that continue a replay, compared with futures of the same decision. */
function YourGames({ replay, list, chosen }: YourGamesProps) {
  const { data: games = [] } = useQuery(keptGamesOfReplayQuery(replay.id));
  if (games.length === 0) return null;
  const futures = findComparable(list, games, chosen);
  return (
    <section aria-label="Your games from this replay">
      <Title order={3} size="sm" mb={4}>
        Your games from this replay
      </Title>
      {futures && <Comparison futures={futures} games={games} />}
      <KeptList games={games} />
    </section>
  );
}

function Comparison({ futures, games }: { futures: FuturesSummary; games: readonly KeptGame[] }) {
  const { data } = useQuery(futuresResultQuery(futures.id));
  if (!data?.document) return null;
  return (
    <>
      <Text fw={600}>{compareWithGames(data.document, games)}</Text>
      <Text size="xs" c="dimmed">
        Score from {nameDecision(futures.decision)} on, without discount.{" "}
        {capitalize(describeOptions(futures))}.
      </Text>
    </>
  );
}

/** Return the chosen futures, or else the newest, of the decision of a game by the replay's own agent. */
function findComparable(
  list: readonly FuturesSummary[],
  games: readonly KeptGame[],
  chosen: number | null,
): FuturesSummary | undefined {
  const decisions = games.map(({ continued }) => continued?.decision);
  const fitting = list.filter(({ state, decision }) => state === "done" && decisions.includes(decision));
  return (
    fitting.find(({ id }) => id === chosen) ??
    fitting.find(({ first = [], agent_run_id, run_id }) => first.length === 0 && agent_run_id === run_id)
  );
}
