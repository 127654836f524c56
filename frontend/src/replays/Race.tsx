import { Button, Group, Slider, Stack, Text } from "@mantine/core";
import { useQueries } from "@tanstack/react-query";
import { Link } from "react-router";
import { replaysQuery } from "@/api/replays";
import { runQuery } from "@/api/runs";
import type { Run } from "@/api/types";
import { exact, short } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import { RunDot } from "@/ui/RunDot";
import { Microscope } from "./Microscope";
import { MOMENT, without, written } from "./moment";
import { idsOf, inTrainingOrder, type PlayableReplay } from "./places";
import classes from "./replays.module.css";
import { Opponents } from "./Opponents";
import { AGAINST, AT, lastOfAll, othersOf, replayAt, stepOf, stopsOf } from "./raceSteps";

interface RaceProps {
  run: Run;
  search: URLSearchParams;
  setSearch: (change: (now: URLSearchParams) => URLSearchParams, how: { replace: boolean }) => void;
}

interface Lane {
  run: Run;
  replays: PlayableReplay[];
}

/** Replays of several runs side by side at the same training step. */
export function Race({ run, search, setSearch }: RaceProps) {
  const ids = [run.id, ...othersOf(search, run.id)];
  const runs = useQueries({ queries: ids.map((id) => runQuery(id)) });
  const replays = useQueries({ queries: ids.map((id) => replaysQuery(id)) });
  const failed = [...runs, ...replays].find((query) => query.isError && !query.data);

  function put(changes: Record<string, string | null>) {
    setSearch(
      (now) => {
        const params = without(now, MOMENT);
        for (const [name, value] of Object.entries(changes)) {
          if (value === null || value === "") params.delete(name);
          else params.set(name, value);
        }
        return params;
      },
      { replace: true },
    );
  }

  const against = (others: number[]) =>
    put({ [AGAINST]: others.join(","), ...(others.length === 0 && { [AT]: null }) });
  const lanes = ids.flatMap((_, lane): Lane[] => {
    const [of, shown] = [runs[lane]?.data, replays[lane]?.data];
    return of && shown ? [{ run: of, replays: inTrainingOrder(shown) }] : [];
  });
  return (
    <Stack gap="sm">
      <Group gap="md">
        <Opponents run={run} others={ids.slice(1)} onChange={against} />
        <Button size="xs" variant="default" onClick={() => against([])}>
          End race
        </Button>
      </Group>
      {failed?.error ? (
        <QueryError error={failed.error} retry={() => void failed.refetch()} />
      ) : lanes.length < ids.length ? (
        <Text c="dimmed">Loading replays…</Text>
      ) : (
        <Course
          lanes={lanes}
          search={search}
          setSearch={setSearch}
          onStep={(step) => put({ [AT]: String(step) })}
        />
      )}
    </Stack>
  );
}

interface CourseProps extends Pick<RaceProps, "search" | "setSearch"> {
  lanes: readonly Lane[];
  onStep: (step: number) => void;
}

function Course({ lanes, search, setSearch, onStep }: CourseProps) {
  const all = lanes.map(({ replays }) => replays);
  const stops = stopsOf(all);
  const step = Math.min(stepOf(search) ?? lastOfAll(all), stops.at(-1) ?? 0);
  const starting = lanes.flatMap(({ run, replays }) => {
    const replay = replayAt(replays, step);
    return replay ? [{ run, replay }] : [];
  });
  const waiting = lanes.filter(({ replays }) => replays.length === 0);
  const shown = starting.map(({ replay }) => replay);
  return (
    <>
      {waiting.map(({ run }) => (
        <Text key={run.id} size="sm" role="status">
          {run.name} #{run.id} has no replay yet.
        </Text>
      ))}
      {shown.length > 0 && (
        <div className={`${classes.card} ${classes.large}`}>
          <StepSlider stops={stops} step={step} onStep={onStep} />
          <Microscope
            replays={shown}
            env={lanes[0]?.run.env ?? ""}
            search={search}
            hold={(seconds) =>
              setSearch((now) => new URLSearchParams([...without(now, MOMENT), [MOMENT, written(seconds)]]), {
                replace: true,
              })
            }
            release={() => setSearch((now) => without(now, MOMENT), { replace: true })}
            key={idsOf(shown).length}
            under={(panel) => <Runner racing={starting[panel]} step={step} />}
          />
        </div>
      )}
    </>
  );
}

function Runner({
  racing,
  step,
}: {
  racing: { run: Run; replay: PlayableReplay } | undefined;
  step: number;
}) {
  if (!racing) return null;
  const { run, replay } = racing;
  return (
    <>
      <Text size="sm" component={Link} to={`/runs/${run.id}/replays`}>
        <RunDot run={run} /> {run.name} #{run.id} · {run.method}
      </Text>
      {replay.step > step && (
        <Text size="xs" c="dimmed">
          No replay at or before {short(step, "steps")}.
        </Text>
      )}
    </>
  );
}

interface StepSliderProps {
  stops: readonly number[];
  step: number;
  onStep: (step: number) => void;
}

/** Slider over the training of all runs, to scale, with a stop for each replay. */
function StepSlider({ stops, step, onStep }: StepSliderProps) {
  const [first, last] = [stops[0] ?? 0, stops.at(-1) ?? 0];
  return (
    <Group gap="md" mb="sm" wrap="nowrap">
      <Text size="sm" title={exact(step, "steps")}>
        At {short(step, "steps")} of training
      </Text>
      {first < last && (
        <Slider
          flex={1}
          min={first}
          max={last}
          step={1}
          value={step}
          marks={stops.map((value) => ({ value }))}
          restrictToMarks
          label={(value) => short(value, "steps")}
          thumbLabel="Step of training"
          thumbValueText={(value) => short(value, "steps")}
          onChange={onStep}
        />
      )}
    </Group>
  );
}
