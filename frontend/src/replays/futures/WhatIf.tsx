import { CloseButton, Group, Text, Title } from "@mantine/core";
import { IconArrowsSplit2 } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { futuresQuery } from "@/api/futures";
import { BlockableButton } from "@/ui/BlockableButton";
import { QueryError } from "@/ui/QueryError";
import { useCatchFocus } from "@/ui/useCatchFocus";
import { pictureAt, type Playhead } from "../clock";
import type { PlayableReplay } from "../places";
import { decisionAt, type Thoughts } from "../track";
import type { Playback } from "../usePlayback";
import type { Steps } from "../useSteps";
import { useDecision } from "../useThoughts";
import { FuturesForm } from "./FuturesForm";
import { FuturesList } from "./FuturesList";
import { FuturesResult } from "./FuturesResult";
import classes from "./futures.module.css";
import { nameDecision } from "./words";
import { YourGames } from "./YourGames";

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
