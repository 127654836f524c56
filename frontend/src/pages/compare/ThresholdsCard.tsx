import { Button, Group, NumberInput, Select, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";
import { thresholdsQuery } from "@/api/comparisons";
import type { Thresholds } from "@/api/types";
import { type Cell, saveCsv } from "@/charts/csv";
import { duration, exact, score, short } from "@/ui/format";
import { WideTable } from "@/ui/WideTable";
import { GroupHead } from "./RunHead";
import { CardProblem } from "./CardProblem";
import classes from "./compare.module.css";
import { readScore, readTo, writeThreshold } from "./comparison";

type GroupTime = Thresholds["groups"][number];

interface ThresholdsCardProps {
  runs: readonly number[];
  by: readonly string[];
  /** Whether all runs are of one game: no score is one of several. */
  oneGame: boolean;
}

/** How soon each group of runs came to a score, and how much sooner than one of them. */
export function ThresholdsCard({ runs, by, oneGame }: ThresholdsCardProps) {
  const [search, setSearch] = useSearchParams();
  const asked = { score: readScore(search), to: readTo(search, runs) };
  const times = useQuery(thresholdsQuery(runs, by, asked));
  const told = times.data;
  if (times.isError && !told)
    return <CardProblem title="Time to a score" error={times.error} retry={() => void times.refetch()} />;
  if (!told) return null;
  const write = (name: "score" | "to", value: number | null) =>
    setSearch((current) => writeThreshold(current, name, value), { replace: true });
  return (
    <section className={classes.card} aria-label="Time to a score">
      <Group justify="space-between" mb="xs">
        <Group gap="sm">
          <Title order={2}>Time to a score</Title>
          {oneGame && (
            <ScoreInput told={told} asked={asked.score} onScore={(value) => write("score", value)} />
          )}
          {told.groups.length > 1 && (
            <Select
              aria-label="Compared with"
              size="xs"
              w={280}
              data={told.groups.map(({ name }, place) => ({ value: String(place), label: `Beside ${name}` }))}
              value={String(told.compared_with)}
              allowDeselect={false}
              onChange={(place) => write("to", told.groups[Number(place)]?.run_ids[0] ?? null)}
            />
          )}
        </Group>
        {told.groups.length > 0 && (
          <Button
            size="xs"
            variant="default"
            onClick={() => saveCsv(`times-${runs.join("-")}.csv`, TIME_HEADER, timeCells(told))}
          >
            Save times (CSV)
          </Button>
        )}
      </Group>
      {told.message ? (
        <Text c="var(--arcadia-dim)">{told.message}</Text>
      ) : (
        <>
          <TimeTable groups={told.groups} />
          <Text size="xs" c="var(--arcadia-dim)" mt="xs">
            A run has come to a score when its mean over 100 episodes first was as high; steps, frames and
            time are those of the median run.{" "}
            {told.common !== null &&
              `${score(told.common)} is the best that more than half of each group's runs came to. `}
            Speed-up compares times in training, which depend on the host and on what ran beside; data
            efficiency compares steps.
          </Text>
          {told.groups.map(({ name, run_ids, untimed_reason }) =>
            untimed_reason === null ? null : (
              <Text key={run_ids.join()} size="xs" c="var(--arcadia-dim)" mt={4}>
                {name} has no time, and no speed-up is told of it or beside it: {untimed_reason}.
              </Text>
            ),
          )}
        </>
      )}
    </section>
  );
}

interface ScoreInputProps {
  told: Thresholds;
  /** The score that was chosen; without one it is that of what is told. */
  asked: number | undefined;
  onScore: (score: number | null) => void;
}

/** Asks for another score when it is left, or by Enter; the one that all came to when it is emptied. */
function ScoreInput({ told, asked, onScore }: ScoreInputProps) {
  // What is typed stays while live runs move the score that all came to.
  const [typed, setTyped] = useState<string | number | null>(null);
  const leave = (text: string) => {
    setTyped(null);
    const value = text.trim() === "" ? null : Number(text);
    if (value !== told.score && !Number.isNaN(value)) onScore(value === told.common ? null : value);
  };
  return (
    <NumberInput
      aria-label="Score to come to"
      placeholder="Score"
      size="xs"
      w={110}
      hideControls
      value={typed ?? asked ?? told.score ?? ""}
      onChange={setTyped}
      onBlur={(event) => leave(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key === "Enter") leave(event.currentTarget.value);
      }}
    />
  );
}

function TimeTable({ groups }: { groups: readonly GroupTime[] }) {
  return (
    <WideTable label="Table of times to the score">
      <Table verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th className={classes.firstColumn}>Settings</Table.Th>
            <Table.Th ta="right">Came to it</Table.Th>
            <Table.Th ta="right">Steps</Table.Th>
            <Table.Th ta="right">Frames</Table.Th>
            <Table.Th ta="right">Time</Table.Th>
            <Table.Th ta="right">Speed-up</Table.Th>
            <Table.Th ta="right">Data efficiency</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {groups.map((group) => (
            <TimeRow key={group.run_ids.join()} group={group} />
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}

function TimeRow({ group }: { group: GroupTime }) {
  const { reached, n, median, speed_up, data_efficiency } = group;
  return (
    <Table.Tr>
      <Table.Td className={classes.firstColumn}>
        <GroupHead group={group} />
      </Table.Td>
      <Table.Td ta="right" className={classes.together}>
        {reached} of {n}
      </Table.Td>
      <Table.Td ta="right" title={exact(median?.steps)}>
        {short(median?.steps)}
      </Table.Td>
      <Table.Td ta="right" title={exact(median?.frames)}>
        {short(median?.frames)}
      </Table.Td>
      <Table.Td ta="right" title={exact(median?.seconds, "s")}>
        {duration(median?.seconds ?? null)}
      </Table.Td>
      <Table.Td ta="right">{times(speed_up)}</Table.Td>
      <Table.Td ta="right">{times(data_efficiency)}</Table.Td>
    </Table.Tr>
  );
}

const times = (ratio: number | null) => (ratio === null ? "–" : `${Number(ratio.toPrecision(3))} ×`);

const TIME_HEADER = ["settings", "run", "score", "steps", "frames", "seconds"];

/** Where each run came to the score, for a spreadsheet. */
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
