import { Button, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { exact, score } from "@/ui/format";
import { isNotFound } from "@/api/problem";
import { Fact, Readout } from "@/stage/Readout";
import { ActionBars } from "./ActionBars";
import type { Playhead } from "./clock";
import type { PlayableReplay } from "./places";
import { ThoughtChart } from "./ThoughtChart";
import classes from "./thoughts.module.css";
import { howCounted, surpriseAt, type Thoughts } from "./track";
import { useDecision, useThoughts } from "./useThoughts";

interface ThoughtPanelProps {
  query: UseQueryResult<Thoughts>;
  replay: PlayableReplay;
  head: Playhead;
  onPicture: (picture: number) => void;
}

/** Values and probabilities at the shown picture, or the reason why there are none. */
export function ThoughtPanel({ query, replay, head, onPicture }: ThoughtPanelProps) {
  if (query.data) return <Seen thoughts={query.data} head={head} onPicture={onPicture} />;
  return (
    <div className={classes.sentence} role="status">
      <Text size="sm">{whyNot(query, replay)}</Text>
      {query.isError && !isNotFound(query.error) && (
        <Button size="xs" variant="default" onClick={() => void query.refetch()}>
          Try again
        </Button>
      )}
    </div>
  );
}

export const BEFORE_TRACKS = "This replay has no track, because an older version recorded it.";

/** Return why a replay has no track. */
export function whyNot(query: UseQueryResult<Thoughts>, replay: PlayableReplay): string {
  if (replay.track_file_id === null) return BEFORE_TRACKS;
  return query.isError ? query.error.message : "Loading the track…";
}

function Seen({
  thoughts,
  head,
  onPicture,
}: Pick<ThoughtPanelProps, "head" | "onPicture"> & { thoughts: Thoughts }) {
  const decision = useDecision(thoughts, head);
  return (
    <div className={classes.thoughts}>
      <Facts thoughts={thoughts} decision={decision} />
      <ThoughtChart thoughts={thoughts} head={head} onPicture={onPicture} />
      <ActionBars thoughts={thoughts} decision={decision} />
      <Text size="xs" c="dimmed">
        {howCounted(thoughts.head)}
      </Text>
    </div>
  );
}

function Facts({ thoughts, decision }: { thoughts: Thoughts; decision: number }) {
  const lives = thoughts.lives[decision] ?? -1;
  return (
    <Readout longFirst>
      <Fact is="Decision">
        {exact(decision + 1)} of {exact(thoughts.picture.length)}
      </Fact>
      <Fact is="Score so far">{score(thoughts.score[decision])}</Fact>
      {lives >= 0 && <Fact is="Lives">{lives}</Fact>}
      <Fact is="Value">{score(thoughts.value[decision])}</Fact>
      <Fact is="Obtained">{score(thoughts.obtained[decision])}</Fact>
      <Fact is="Surprise">{score(surpriseAt(thoughts, decision))}</Fact>
      <Fact is="Reward">{score(thoughts.reward[decision])}</Fact>
    </Readout>
  );
}

/** One line of values for one of several replays. */
export function BriefThought({ replay, head }: { replay: PlayableReplay; head: Playhead }) {
  const query = useThoughts(replay);
  return (
    <Text size="xs" c="dimmed">
      {query.data ? <BriefWords thoughts={query.data} head={head} /> : briefly(query, replay)}
    </Text>
  );
}

function BriefWords({ thoughts, head }: { thoughts: Thoughts; head: Playhead }) {
  const decision = useDecision(thoughts, head);
  return `score ${score(thoughts.score[decision])}, value ${score(thoughts.value[decision])}`;
}

function briefly(query: UseQueryResult<Thoughts>, replay: PlayableReplay): string {
  if (replay.track_file_id === null) return "no track";
  return query.isError ? "the track could not be loaded" : "loading the track…";
}
