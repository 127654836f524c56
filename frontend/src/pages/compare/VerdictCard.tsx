import { Button, List, Table, Text, Title, VisuallyHidden } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useCloneRun } from "@/api/mutations";
import { profileFigureQuery, verdictQuery } from "@/api/comparisons";
import type { ComparedRun, Verdict } from "@/api/types";
import type { Cell } from "@/charts/csv";
import { FigureFrame } from "@/charts/FigureFrame";
import { percent, plural, score, short } from "@/ui/format";
import { notifyDone } from "@/ui/notify";
import { WideTable } from "@/ui/WideTable";
import { CardProblem } from "./CardProblem";
import classes from "./compare.module.css";

const MORE_SEEDS = 3;

interface VerdictCardProps {
  runs: readonly number[];
  /** The settings that they are grouped by; without any, those that differ in the seed alone are one group. */
  by: readonly string[];
  known: readonly ComparedRun[];
  onRuns: (runs: number[]) => void;
}

/** Which settings are best over their seeds, in words and numbers. */
export function VerdictCard(props: VerdictCardProps) {
  const query = useQuery(verdictQuery(props.runs, props.by));
  const verdict = query.data;
  const more = useMoreSeeds(props);
  if (query.isError && !verdict)
    return <CardProblem title="Verdict" error={query.error} retry={() => void query.refetch()} />;
  if (!verdict) return null;
  return (
    <section className={classes.card} aria-label="Verdict">
      <Title order={2} mb="xs">
        Verdict
      </Title>
      {verdict.at === null ? (
        <Text c="var(--arcadia-dim)">{verdict.words}</Text>
      ) : (
        <>
          <List size="sm" spacing={4} listStyleType="none">
            {verdict.duels.map(({ words, shown, other }) => (
              <List.Item key={other} fw={shown ? 600 : undefined}>
                {words}
              </List.Item>
            ))}
          </List>
          <Standings verdict={verdict} launching={more.isPending} onSeeds={more.mutate} />
          <FigureFrame
            title="Share of runs above a return"
            hint="The performance profile, with its 95 % interval where there are three seeds or more"
            label="What share of the runs of each of these settings scores above which return; the table says more."
            query={profileFigureQuery(props.runs, props.by)}
            zoom={null}
            onZoom={() => undefined}
            revision=""
            legend
            height={260}
            file={`profile-${props.runs.join("-")}`}
            points={() => Promise.resolve({ header: STANDING_HEADER, rows: standingCells(verdict) })}
          />
          <Text size="xs" c="var(--arcadia-dim)" mt="xs">
            Mean return over the last tenth of the first {short(verdict.at)} steps.{" "}
            {props.by.length > 0
              ? "Runs that agree in the settings that they are grouped by"
              : "Runs that differ in their seed alone"}{" "}
            count as one; n is how many have come so far. Intervals are of 95 %.
          </Text>
        </>
      )}
    </section>
  );
}

type Standing = Verdict["standings"][number];

interface StandingsProps {
  verdict: Verdict;
  launching: boolean;
  onSeeds: (group: Standing) => void;
}

function Standings({ verdict, launching, onSeeds }: StandingsProps) {
  const [best] = verdict.standings;
  return (
    <WideTable label="Table of settings">
      <Table verticalSpacing={6} mt="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th className={classes.firstColumn}>Settings</Table.Th>
            <Table.Th ta="right">n</Table.Th>
            <Table.Th ta="right">Mean return</Table.Th>
            <Table.Th ta="right">Interval</Table.Th>
            <Table.Th ta="right" title={best && `How probable it is that a run of ${best.name} scores more`}>
              Best is better
            </Table.Th>
            <Table.Th>
              <VisuallyHidden>More seeds</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {verdict.standings.map((group, place) => (
            <Table.Tr key={group.run_ids.join()}>
              <Table.Td className={classes.firstColumn}>{group.name}</Table.Td>
              <Table.Td ta="right">{group.n}</Table.Td>
              <Table.Td ta="right">{group.mean ? score(group.mean.value) : "–"}</Table.Td>
              <Table.Td ta="right" className={classes.together}>
                {interval(group.mean)}
              </Table.Td>
              <Table.Td ta="right">{probability(verdict, place)}</Table.Td>
              <Table.Td ta="right">
                <Button
                  size="compact-xs"
                  variant={group.missing > 0 ? "filled" : "default"}
                  disabled={launching}
                  aria-label={`Add ${MORE_SEEDS} seeds of ${group.name}`}
                  onClick={() => onSeeds(group)}
                >
                  Add {MORE_SEEDS} seeds
                </Button>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}

const STANDING_HEADER = ["settings", "runs", "n", "step", "mean", "low", "high"];

/** The settings, for a spreadsheet. */
function standingCells({ standings, at }: Verdict): Cell[][] {
  return standings.map(({ name, run_ids, n, mean }) => [
    name,
    run_ids.join(" "),
    n,
    at,
    mean?.value,
    mean?.low,
    mean?.high,
  ]);
}

function interval(estimate: Standing["mean"]): string {
  if (!estimate || estimate.low === null || estimate.high === null) return "–";
  return `${score(estimate.low)} to ${score(estimate.high)}`;
}

function probability({ duels }: Verdict, place: number): string {
  const estimate = duels.find(({ other }) => other === place)?.probability;
  return estimate ? percent(estimate.value) : "–";
}

/** Launch a group's settings with seeds that it has not had, and compare these runs too. */
function useMoreSeeds({ runs, known, onRuns }: VerdictCardProps) {
  const clone = useCloneRun();
  return useMutation({
    mutationFn: async ({ run_ids }: Standing) => {
      const members = known.filter(({ id }) => run_ids.includes(id));
      const [first] = members;
      if (!first) return [];
      const last = Math.max(...members.map(({ config }) => Number(config["seed"] ?? 0)));
      const seeds = Array.from({ length: MORE_SEEDS }, (_, place) => last + 1 + place);
      const answers = await Promise.allSettled(
        seeds.map((seed) => clone.mutateAsync({ id: first.id, name: first.name, overrides: { seed } })),
      );
      // Those that were refused have said so already.
      return answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value.id] : []));
    },
    onSuccess: (made, { name }) => {
      if (made.length === 0) return;
      onRuns([...runs, ...made]);
      notifyDone(
        `${plural(made.length, "run")} of ${name} launched: ${made.map((id) => `#${id}`).join(", ")}`,
      );
    },
  });
}
