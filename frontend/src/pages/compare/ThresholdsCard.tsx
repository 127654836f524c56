import { Button, Group, NumberInput, Select, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { thresholdsQuery } from "@/api/comparisons";
import type { Thresholds } from "@/api/types";
import { runsInFileName } from "@/api/runNumbers";
import { type Cell, saveCsv } from "@/charts/csv";
import { DataTable } from "@/ui/DataTable";
import { duration, exact, score, short } from "@/ui/format";
import { GroupHeading } from "./RunHeading";
import { CardError } from "./CardError";
import classes from "./compare.module.css";
import { readScore, readTo, writeThreshold } from "./comparison";
import { useFirst } from "./useFirst";

type GroupTime = Thresholds["groups"][number];

interface ThresholdsCardProps {
  runs: readonly number[];
  by: readonly string[];
  /** True if all runs are of one game. Scores of different games are not compared. */
  oneGame: boolean;
}

/** Time of each group to reach a score, and the speed-up over a reference group. */
export function ThresholdsCard({ runs, by, oneGame }: ThresholdsCardProps) {
  const [search, setSearch] = useSearchParams();
  const asked = { score: readScore(search), to: readTo(search, runs) };
  const query = useQuery(thresholdsQuery(runs, by, asked));
  const times = query.data;
  if (query.isError && !times)
    return <CardError title="Time to a score" error={query.error} retry={() => void query.refetch()} />;
  if (!times) return null;
  const write = (name: "score" | "to", value: number | null) =>
    setSearch((current) => writeThreshold(current, name, value), { replace: true });
  return (
    <section className={classes.card} aria-label="Time to a score">
      <Group justify="space-between" mb="xs">
        <Group gap="sm">
          <Title order={2}>Time to a score</Title>
          {oneGame && (
            <ScoreInput times={times} asked={asked.score} onScore={(value) => write("score", value)} />
          )}
          {times.groups.length > 1 && (
            <Select
              aria-label="Compared with"
              size="xs"
              w={280}
              data={times.groups.map(({ name }, place) => ({
                value: String(place),
                label: `Compared with ${name}`,
              }))}
              value={String(times.compared_with)}
              allowDeselect={false}
              onChange={(place) => write("to", times.groups[Number(place)]?.run_ids[0] ?? null)}
            />
          )}
        </Group>
        {times.groups.length > 0 && (
          <Button
            size="xs"
            variant="default"
            onClick={() => saveCsv(`times-${runsInFileName(runs)}.csv`, TIME_HEADER, timeCells(times))}
          >
            Download times (CSV)
          </Button>
        )}
      </Group>
      {times.message ? (
        <Text c="var(--arcadia-dim)">{times.message}</Text>
      ) : (
        <>
          <TimeTable groups={times.groups} />
          <Text size="xs" c="var(--arcadia-dim)" mt="xs">
            A run reaches a score when its mean over 100 episodes first equals it. Steps, frames and time are
            those of the median run.{" "}
            {times.common !== null &&
              `${score(times.common)} is the best score that more than half of each group's runs reached. `}
            Speed-up compares training times, which depend on the host and its load. Data efficiency compares
            steps.
          </Text>
          {times.groups.map(({ name, run_ids, untimed_reason }) =>
            untimed_reason === null ? null : (
              <Text key={run_ids.join()} size="xs" c="var(--arcadia-dim)" mt={4}>
                {name} has no time or speed-up: {untimed_reason}.
              </Text>
            ),
          )}
        </>
      )}
    </section>
  );
}

interface ScoreInputProps {
  times: Thresholds;
  /** The chosen score, or null for the default score of the response. */
  asked: number | undefined;
  onScore: (score: number | null) => void;
}

/** Score input that applies on blur or Enter. Empty means the default score. */
function ScoreInput({ times, asked, onScore }: ScoreInputProps) {
  // Keep the typed text while live runs change the default score.
  const [typed, setTyped] = useState<string | number | null>(null);
  const leave = (text: string) => {
    setTyped(null);
    const value = text.trim() === "" ? null : Number(text);
    if (value !== times.score && !Number.isNaN(value)) onScore(value === times.common ? null : value);
  };
  return (
    <NumberInput
      aria-label="Target score"
      placeholder="Score"
      size="xs"
      w={110}
      hideControls
      value={typed ?? asked ?? times.score ?? ""}
      onChange={setTyped}
      onBlur={(event) => leave(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter") leave(event.currentTarget.value);
      }}
    />
  );
}

/** Rows that are shown at first. */
const FIRST_GROUPS = 12;

function TimeTable({ groups }: { groups: readonly GroupTime[] }) {
  const [rows, more] = useFirst(groups, FIRST_GROUPS, "groups");
  return (
    <>
      <DataTable
        label="Times to the score"
        verticalSpacing={6}
        rows={rows}
        rowKey={({ run_ids }) => run_ids.join()}
        columns={[
          {
            title: "Settings",
            className: classes.firstColumn,
            cell: (group) => <GroupHeading group={group} />,
          },
          {
            title: "Reached",
            numeric: true,
            className: classes.together,
            cell: ({ reached, n }) => `${reached} of ${n}`,
          },
          {
            title: "Steps",
            numeric: true,
            cell: ({ median }) => short(median?.steps),
            cellProps: ({ median }) => ({ title: exact(median?.steps) }),
          },
          {
            title: "Frames",
            numeric: true,
            cell: ({ median }) => short(median?.frames),
            cellProps: ({ median }) => ({ title: exact(median?.frames) }),
          },
          {
            title: "Time",
            numeric: true,
            cell: ({ median }) => duration(median?.seconds ?? null),
            cellProps: ({ median }) => ({ title: exact(median?.seconds, "s") }),
          },
          { title: "Speed-up", numeric: true, cell: ({ speed_up }) => times(speed_up) },
          { title: "Data efficiency", numeric: true, cell: ({ data_efficiency }) => times(data_efficiency) },
        ]}
      />
      {more}
    </>
  );
}

const times = (ratio: number | null) => (ratio === null ? "–" : `${Number(ratio.toPrecision(3))} ×`);

const TIME_HEADER = ["settings", "run", "score", "steps", "frames", "seconds"];

/** Return when each run reached the score, for a CSV file. */
function timeCells({ groups, score: wanted }: Thresholds): Cell[][] {
  return groups.flatMap(({ name, runs }) =>
    runs.map(({ run_id, reached }) => [
      name,
      run_id,
      wanted,
      reached?.steps,
      reached?.frames,
      reached?.seconds,
    ]),
  );
}
