import { Box, Group, SegmentedControl, Slider, Stack, Text } from "@mantine/core";
import { IconMovie } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useState } from "react";
import { useSearchParams } from "react-router";
import { replaysQuery } from "@/api/replays";
import type { Run } from "@/api/types";
import { EmptyState } from "@/ui/EmptyState";
import { plural, score, short } from "@/ui/format";
import { Thumbnail } from "@/ui/Thumbnail";
import { QueryError } from "@/ui/QueryError";
import { MOST_PANELS } from "./ensemble";
import { Microscope } from "./Microscope";
import { MOMENT, withMoment, without } from "./moment";
import { Opponents } from "./Opponents";
import { Race } from "./Race";
import { against, othersOf } from "./raceSteps";
import { idsOf, inTrainingOrder, placeAt, type PlayableReplay, spread, stepped } from "./places";
import { AwaitedReplay } from "./AwaitedReplay";
import classes from "./replays.module.css";

/** Replays over the training of a run. */
export function ReplaysTab({ run }: { run: Run }) {
  const [search, setSearch] = useSearchParams();
  if (othersOf(search, run.id).length > 0) return <Race run={run} search={search} setSearch={setSearch} />;
  return <OwnReplays run={run} />;
}

function OwnReplays({ run }: { run: Run }) {
  const query = useQuery(replaysQuery(run.id));
  if (query.isError && !query.data) {
    return <QueryError error={query.error} retry={() => void query.refetch()} />;
  }
  if (!query.data) return <Text c="dimmed">Loading replays…</Text>;
  const replays = inTrainingOrder(query.data);
  if (replays.length === 0) {
    return (
      <EmptyState icon={IconMovie} title="No replays yet">
        <AwaitedReplay run={run} />
      </EmptyState>
    );
  }
  return <Replays run={run} replays={replays} />;
}

function Replays({ run, replays }: { run: Run; replays: PlayableReplay[] }) {
  // null follows the newest replay.
  const [search, setSearch] = useSearchParams();
  const [ids, putIds] = useState(() => idsNamed(search.get("replays")));
  const last = replays.length - 1;
  const at = ids.map((id) => placeOf(id, replays));
  const shown = at.flatMap((place) => replays[place] ?? []);
  const idAt = (place: number) => (place === last ? null : (replays[place]?.id ?? null));

  function setIds(next: (number | null)[]) {
    putIds(next);
    setSearch(
      (now) => {
        const params = new URLSearchParams(now);
        params.delete(MOMENT);
        if (next.length === 1 && next[0] === null) params.delete("replays");
        else params.set("replays", next.map((id) => id ?? NEWEST).join(","));
        return params;
      },
      { replace: true },
    );
  }

  /** Fix the shown replays, so that a newer one does not replace them. */
  function hold(seconds: number) {
    putIds(idsOf(shown));
    setSearch((now) => withMoment(now, idsOf(shown), seconds), { replace: true });
  }

  const release = () => setSearch((now) => without(now, MOMENT), { replace: true });

  const put = (panel: number, place: number) =>
    setIds(ids.map((old, i) => (i === panel ? idAt(place) : old)));
  const show = (panels: number) => setIds(spread(panels, replays.length).map(idAt));

  function onKey(event: KeyboardEvent) {
    const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    const onControl = event.target instanceof Element && event.target.closest(OWN_ARROWS);
    if (by === 0 || onControl) return;
    event.preventDefault();
    setIds(at.map((place) => idAt(stepped(place, by, replays.length))));
  }

  return (
    <Stack
      gap="sm"
      onKeyDown={onKey}
      tabIndex={0}
      role="group"
      aria-label="Replays; arrow keys step through training"
    >
      <Group gap="md">
        <Text size="sm">
          {plural(replays.length, "replay")}, {rangeOfSteps(replays[0]?.step ?? 0, replays[last]?.step ?? 0)}
        </Text>
        <SegmentedControl
          size="xs"
          aria-label="Replays side by side"
          data={["1", "2", "3", "4"].map((value) => ({
            value,
            label: value === "1" ? "One" : `${value} side by side`,
          }))}
          value={String(ids.length)}
          onChange={(panels) => show(Number(panels))}
        />
        <Text size="xs" c="dimmed" visibleFrom="sm">
          ← and → step through training
        </Text>
        <Opponents
          run={run}
          others={[]}
          onChange={(others) => setSearch((now) => against(without(now, MOMENT), others))}
        />
      </Group>
      <div className={`${classes.card} ${classes.large}`}>
        <Microscope
          replays={shown}
          env={run.env}
          search={search}
          hold={hold}
          release={release}
          under={(panel) => (
            <PlaceSlider
              replays={replays}
              place={at[panel] ?? last}
              onChange={(place) => put(panel, place)}
            />
          )}
        />
      </div>
      <div className={classes.posters} role="group" aria-label="All replays">
        {replays.map((replay, place) => (
          <button
            key={replay.id}
            type="button"
            className={classes.poster}
            aria-pressed={at.includes(place)}
            title={`${short(replay.step, "steps")}, return ${score(replay.episode_return)}`}
            onClick={() => put(ids.length - 1, place)}
          >
            <Thumbnail
              fileId={replay.poster_file_id}
              size={64}
              alt={`Replay at ${short(replay.step, "steps")}`}
            />
          </button>
        ))}
      </div>
    </Stack>
  );
}

const rangeOfSteps = (first: number, last: number) =>
  first === last ? `at ${short(first, "steps")}` : `from ${short(first, "steps")} to ${short(last, "steps")}`;

/** Return true if the arrow keys have another meaning. Events of menus and dialogs bubble up to here. */
const OWN_ARROWS = "[role=slider], [role=radiogroup], [role=menu], [role=dialog], input, select";

const NEWEST = "newest";

/** Return the replay IDs in the URL, or null for the newest replay. */
function idsNamed(written: string | null): (number | null)[] {
  const named = (written ?? NEWEST).split(",").slice(0, MOST_PANELS);
  return named.map((id) => (/^\d+$/.test(id) ? Number(id) : null));
}

/** Return a replay's current index by its ID, or the newest one's if it was deleted. */
function placeOf(id: number | null, replays: readonly PlayableReplay[]): number {
  const place = replays.findIndex((replay) => replay.id === id);
  return place === -1 ? replays.length - 1 : place;
}

const BY_KEY: Partial<Record<string, number>> = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 };

interface PlaceSliderProps {
  replays: readonly PlayableReplay[];
  place: number;
  onChange: (place: number) => void;
}

/** Slider over training, to scale, with a stop for each replay. */
function PlaceSlider({ replays, place, onChange }: PlaceSliderProps) {
  const [first, last] = [replays[0]?.step ?? 0, replays.at(-1)?.step ?? 0];
  if (first === last) return null;

  // Step from replay to replay, because two replays of one step share a mark.
  function onKey(event: KeyboardEvent) {
    const by = BY_KEY[event.key];
    if (by === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    onChange(stepped(place, by, replays.length));
  }

  return (
    <Box mt={8} onKeyDownCapture={onKey}>
      <Slider
        min={first}
        max={last}
        step={1}
        value={replays[place]?.step ?? last}
        marks={replays.map(({ step }) => ({ value: step }))}
        restrictToMarks
        label={(step) => short(step, "steps")}
        thumbLabel="Checkpoint shown"
        thumbValueText={(step) => short(step, "steps")}
        onChange={(step) => onChange(placeAt(replays, step))}
      />
    </Box>
  );
}
