import { Button, Text } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";
import { type KeyboardEvent, type PointerEvent, useEffect, useMemo, useRef } from "react";
import { isNotFound } from "@/api/problem";
import { Fact, Readout } from "@/stage/Readout";
import { exact, score } from "@/ui/format";
import { ActionBars } from "./ActionBars";
import { pictureAt, type Playhead } from "./clock";
import type { PlayableReplay } from "./places";
import { type Domain, domainOf, line, placeOn, SIDE, ticksOf } from "./scale";
import { decisionAt, howCounted, surpriseAt, type Thoughts } from "./track";
import { useDecision, useThoughts } from "./useThoughts";
import classes from "./thoughts.module.css";

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

interface ThoughtChartProps {
  thoughts: Thoughts;
  head: Playhead;
  /** Seek to a picture. */
  onPicture: (picture: number) => void;
}

const percent = (share: number) => `${(share * 100).toFixed(3)}%`;

/** Chart of value estimates and returns over a replay, with a cursor. A click seeks. */
function ThoughtChart({ thoughts, head, onPicture }: ThoughtChartProps) {
  const plot = useRef<HTMLDivElement>(null);
  const cursor = useRef<HTMLDivElement>(null);
  const dot = useRef<HTMLDivElement>(null);
  const { pictures, pictures_per_second: rate } = thoughts.head;
  const domain = useMemo(() => domainOf([0, ...thoughts.value, ...thoughts.obtained]), [thoughts]);
  const shown = () => Math.min(pictures - 1, pictureAt(head.seconds, rate));

  useEffect(() => {
    // This runs 60 times a second, so move only the cursor without rendering.
    function follow() {
      const picture = Math.min(pictures - 1, pictureAt(head.seconds, rate));
      const decision = decisionAt(thoughts.picture, picture);
      const left = percent((picture + 0.5) / pictures);
      cursor.current?.style.setProperty("left", left);
      dot.current?.style.setProperty("left", left);
      dot.current?.style.setProperty("top", percent(1 - placeOn(domain, thoughts.value[decision] ?? 0)));
      plot.current?.setAttribute("aria-valuenow", String(picture));
      plot.current?.setAttribute("aria-valuetext", inWords(thoughts, picture, decision));
    }
    follow();
    return head.watch(follow);
  }, [thoughts, head, domain, pictures, rate]);

  function toPointer({ currentTarget, clientX }: PointerEvent<HTMLDivElement>) {
    const { left, width } = currentTarget.getBoundingClientRect();
    const share = (clientX - left) / width;
    onPicture(Math.min(pictures - 1, Math.max(0, Math.floor(share * pictures))));
  }

  function onPointerDown(event: PointerEvent<HTMLDivElement>) {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    toPointer(event);
  }

  function onKeyDown(event: KeyboardEvent) {
    const decision = decisionAt(thoughts.picture, shown());
    const last = thoughts.picture.length - 1;
    const to = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageUp: 10, PageDown: -10 }[
      event.key
    ];
    const end = { Home: 0, End: last }[event.key];
    if (to === undefined && end === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    onPicture(thoughts.picture[end ?? Math.min(last, Math.max(0, decision + (to ?? 0)))] ?? 0);
  }

  return (
    <div className={classes.chart}>
      <Legend thoughts={thoughts} />
      <div className={classes.framed}>
        <div
          ref={plot}
          className={classes.plot}
          role="slider"
          tabIndex={0}
          aria-label="Moment of the replay"
          aria-valuemin={0}
          aria-valuemax={pictures - 1}
          aria-valuenow={0}
          onPointerDown={onPointerDown}
          onPointerMove={(event) =>
            event.currentTarget.hasPointerCapture(event.pointerId) && toPointer(event)
          }
          onKeyDown={onKeyDown}
        >
          <Curves thoughts={thoughts} domain={domain} />
          <Rewards thoughts={thoughts} />
          {thoughts.lifeLost.map((lost, decision) =>
            lost ? <LostLife key={decision} at={middle(thoughts, decision)} /> : null,
          )}
          <div className={classes.layer}>
            {ticksOf(domain, 4).map((tick) => (
              <span key={tick} className={classes.tickY} style={{ top: percent(1 - placeOn(domain, tick)) }}>
                {score(tick)}
              </span>
            ))}
            <div ref={dot} className={classes.now} />
          </div>
          <div ref={cursor} className={classes.cursor} />
        </div>
        {ticksOf([0, pictures / rate], 6).map((tick) => (
          <span key={tick} className={classes.tickX} style={{ left: percent((tick * rate) / pictures) }}>
            {tick} s
          </span>
        ))}
      </div>
    </div>
  );
}

/** Return a decision's position in the replay from 0 to 1. */
const middle = ({ picture, head }: Thoughts, decision: number) =>
  ((picture[decision] ?? 0) + 0.5) / head.pictures;

function inWords(thoughts: Thoughts, picture: number, decision: number): string {
  const seconds = picture / thoughts.head.pictures_per_second;
  const surprise = surpriseAt(thoughts, decision);
  return `${seconds.toFixed(1)} s, decision ${decision + 1}, value ${score(thoughts.value[decision])}, surprise ${score(surprise)}`;
}

function Curves({ thoughts, domain }: { thoughts: Thoughts; domain: Domain }) {
  const [value, obtained, area] = useMemo(() => {
    const points = (values: readonly number[]) =>
      values.map((each, decision) => [middle(thoughts, decision), rise(domain, each)] as const);
    const came = points(thoughts.obtained);
    const zero = placeOn(domain, 0);
    const [first, last] = [came[0]?.[0] ?? 0, came.at(-1)?.[0] ?? 0];
    const filled = came.filter(([, y]) => !Number.isNaN(y));
    return [line(points(thoughts.value)), line(came), line([[first, zero], ...filled, [last, zero]])];
  }, [thoughts, domain]);
  return (
    <svg viewBox={`0 0 ${SIDE} ${SIDE}`} preserveAspectRatio="none" className={classes.curves} aria-hidden>
      {ticksOf(domain, 4).map((tick) => {
        const y = (1 - placeOn(domain, tick)) * SIDE;
        return (
          <line key={tick} x1={0} x2={SIDE} y1={y} y2={y} className={classes.grid} data-zero={tick === 0} />
        );
      })}
      <path d={area} className={classes.area} />
      <path d={obtained} className={classes.obtained} />
      <path d={value} className={classes.value} />
    </svg>
  );
}

const rise = (domain: Domain, value: number) => (Number.isFinite(value) ? placeOn(domain, value) : NaN);

/** Reward marks: positive rewards upwards, negative ones downwards. */
function Rewards({ thoughts }: { thoughts: Thoughts }) {
  const [won, lost] = useMemo(() => {
    const most = Math.max(
      ...thoughts.reward.map((reward) => (Number.isFinite(reward) ? Math.abs(reward) : 0)),
    );
    const strokes = (sign: number) =>
      thoughts.reward
        .map((reward, decision) => {
          const size = Math.min(1, (sign * reward) / most);
          const x = middle(thoughts, decision);
          return size > 0
            ? line([
                [x, 0.5],
                [x, 0.5 + sign * Math.max(0.2, size / 2)],
              ])
            : "";
        })
        .join("");
    return [strokes(1), strokes(-1)];
  }, [thoughts]);
  return (
    <svg viewBox={`0 0 ${SIDE} ${SIDE}`} preserveAspectRatio="none" className={classes.rewards} aria-hidden>
      <line x1={0} x2={SIDE} y1={SIDE / 2} y2={SIDE / 2} className={classes.grid} />
      <path d={won} className={classes.won} data-testid="won" />
      <path d={lost} className={classes.lost} data-testid="lost" />
    </svg>
  );
}

const LostLife = ({ at }: { at: number }) => (
  <span className={classes.lostLife} style={{ left: percent(at) }} data-testid="lost life">
    ✕
  </span>
);

function Legend({ thoughts }: { thoughts: Thoughts }) {
  return (
    <ul className={classes.legend}>
      <li data-of="value">Value estimate</li>
      <li data-of="obtained">Return obtained</li>
      {thoughts.reward.some((reward) => reward > 0) && <li data-of="won">Reward</li>}
      {thoughts.reward.some((reward) => reward < 0) && <li data-of="lost">Negative reward</li>}
      {thoughts.lifeLost.some(Boolean) && <li data-of="life">Life lost</li>}
    </ul>
  );
}
