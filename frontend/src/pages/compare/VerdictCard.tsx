import { List, Text, Title } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { checkpointsQuery } from "@/api/checkpoints";
import { MAX_RUNS, profileFigureQuery, verdictQuery } from "@/api/comparisons";
import { isNotFound } from "@/api/problem";
import { runsInFileName } from "@/api/runNumbers";
import { useCloneRun, useForkRun } from "@/api/runs";
import type { ComparedRun, Verdict } from "@/api/types";
import type { Cell } from "@/charts/csv";
import { FigureFrame } from "@/charts/FigureFrame";
import { BlockableButton } from "@/ui/BlockableButton";
import { DataTable } from "@/ui/DataTable";
import { exact, formatInterval, nearestPercent, plural, score } from "@/ui/format";
import { notifyDone, notifyProblem } from "@/ui/notify";
import { unsupportedReason } from "@/ui/states";
import { useIsMounted } from "@/ui/useIsMounted";
import { CardError } from "./CardError";
import { GroupHeading } from "./RunHeading";
import { useFirst } from "./useFirst";
import classes from "./compare.module.css";

/** Sentences and rows that are shown at first. */
const FIRST_PAIRS = 5;
const FIRST_GROUPS = 12;
/** Scores of a group without an interval that are listed. */
const MOST_SCORES = 10;

interface VerdictCardProps {
  runs: readonly number[];
  /** Settings to group by. Without any, runs that differ only in the seed form a group. */
  by: readonly string[];
  known: readonly ComparedRun[];
  onRuns: (runs: number[]) => void;
}

/** Verdict on which group is best over its seeds. */
export function VerdictCard(props: VerdictCardProps) {
  const query = useQuery(verdictQuery(props.runs, props.by));
  const verdict = query.data;
  const capacity = MAX_RUNS - props.runs.length;
  const stillHere = useIsMounted();
  const more = useMoreSeeds(props.known, capacity, (made, { run_ids }) => {
    const compared = run_ids.every((id) => props.runs.includes(id));
    if (stillHere() && compared) props.onRuns([...props.runs, ...made]);
  });
  const [pairs, morePairs] = useFirst(verdict?.pairs ?? [], FIRST_PAIRS, "verdicts");
  if (query.isError && !verdict)
    return <CardError title="Verdict" error={query.error} retry={() => void query.refetch()} />;
  // Reserve the same height while loading, so that the cards below do not jump.
  if (!verdict)
    return (
      <section className={classes.card} style={{ minHeight: 240 }} aria-hidden>
        <Title order={2}>Verdict</Title>
      </section>
    );
  return (
    <section className={classes.card} aria-label="Verdict">
      <Title order={2} mb="xs">
        Verdict
      </Title>
      {verdict.at === null ? (
        <Text c="var(--arcadia-dim)">{verdict.message}</Text>
      ) : (
        <>
          {verdict.message !== "" && <Text size="sm">{verdict.message}</Text>}
          <List size="sm" spacing={4} listStyleType="none">
            {pairs.map(({ text, warning, significant, other }) => (
              <List.Item key={other}>
                <Text size="sm" fw={significant ? 600 : undefined}>
                  {text}
                </Text>
                {warning !== "" && <Text size="sm">{warning}</Text>}
              </List.Item>
            ))}
          </List>
          {morePairs}
          <Standings verdict={verdict} known={props.known} launching={more.isPending} onSeeds={more.mutate} />
          <FigureFrame
            title="Runs above a return"
            hint="Performance profile with 95 % intervals for three or more seeds"
            label="Fraction of each group's runs that score above a return. The table has more data."
            query={profileFigureQuery(props.runs, props.by)}
            zoom={null}
            onZoom={() => undefined}
            revision=""
            legend
            height={260}
            file={`profile-${runsInFileName(props.runs)}`}
            points={() => Promise.resolve({ header: STANDING_HEADER, rows: standingCells(verdict) })}
          />
          <Text size="xs" c="var(--arcadia-dim)" mt="xs">
            {verdict.quantity}{" "}
            {props.by.length > 0
              ? "Runs with the same values of the chosen settings"
              : "Runs that differ only in their seed"}{" "}
            form one group. n is the number of runs that got this far. Intervals are 95 % intervals for scores
            without rare failures or a long tail, which few runs cannot show. Those in the sentences hold for
            all pairs of groups together.
          </Text>
        </>
      )}
    </section>
  );
}

interface StandingsProps {
  verdict: Verdict;
  known: readonly ComparedRun[];
  launching: boolean;
  onSeeds: (group: Standing) => void;
}

function Standings({ verdict, known, launching, onSeeds }: StandingsProps) {
  const [best] = verdict.standings;
  const probabilityColumn = {
    title: "Probability that the best beats it",
    help: best && `Probability that a run of ${best.name} scores higher`,
    numeric: true,
    headProps: { maw: 180 },
    cell: (_: Standing, place: number) => probability(verdict, place),
  };
  const [standings, moreStandings] = useFirst(verdict.standings, FIRST_GROUPS, "groups");
  return (
    <>
      <DataTable
        label="Groups"
        verticalSpacing={6}
        mt="xs"
        rows={standings}
        rowKey={({ run_ids }) => run_ids.join()}
        columns={[
          {
            title: "Settings",
            className: classes.firstColumn,
            cell: (group) => <GroupHeading group={group} />,
          },
          {
            title: "n",
            numeric: true,
            cell: ({ n, failed, stopped }) =>
              `${n}${leftOut(failed, "failed")}${leftOut(stopped, "stopped")}`,
          },
          { title: "Mean return", numeric: true, cell: ({ mean }) => (mean ? score(mean.value) : "–") },
          {
            title: "Interval",
            numeric: true,
            className: classes.together,
            cell: (group) => <StandingInterval group={group} />,
          },
          ...(verdict.pairs.length > 0 ? [probabilityColumn] : []),
          {
            title: "More seeds",
            isTitleHidden: true,
            cell: (group) => (
              <MoreSeedsButton
                group={group}
                like={membersOf(group, known)[0]}
                launching={launching}
                onLaunch={() => onSeeds(group)}
              />
            ),
            cellProps: () => ({ ta: "right" }),
          },
        ]}
      />
      {moreStandings}
    </>
  );
}

const STANDING_HEADER = ["settings", "runs", "n", "failed", "stopped", "step", "mean", "low", "high"];

/** Return the groups for a CSV file. */
function standingCells({ standings, at }: Verdict): Cell[][] {
  return standings.map(({ name, run_ids, n, failed, stopped, mean }) => [
    name,
    run_ids.join(" "),
    n,
    failed,
    stopped,
    at,
    mean?.value,
    mean?.low,
    mean?.high,
  ]);
}

const leftOut = (count: number, how: string) => (count > 0 ? ` (${exact(count)} ${how})` : "");

/** The interval of a group's mean, or the scores of its runs and why there is no interval. */
function StandingInterval({ group: { mean, scores, no_interval } }: { group: Standing }) {
  if (!mean) return "–";
  if (mean.low !== null && mean.high !== null) return formatInterval([mean.low, mean.high]);
  return (
    <Text size="xs" c="var(--arcadia-dim)" className={classes.reason}>
      {no_interval} {scores.length > 1 && `Scores: ${scores.slice(0, MOST_SCORES).map(score).join(", ")}`}
      {scores.length > MOST_SCORES && "…"}
    </Text>
  );
}

/** Return the probability beside a significant difference. Else, it would contradict that none is shown. */
function probability({ pairs }: Verdict, place: number): string {
  const pair = pairs.find(({ other }) => other === place);
  return pair?.significant && pair.probability ? nearestPercent(pair.probability.value) : "–";
}

interface MoreSeedsButtonProps {
  group: Standing;
  /** Run of the group to copy with other seeds. */
  like: ComparedRun | undefined;
  launching: boolean;
  onLaunch: () => void;
}

/** Button that launches more seeds of a group. */
function MoreSeedsButton({ group, like, launching, onLaunch }: MoreSeedsButtonProps) {
  const lostCheckpoint = useLostCheckpoint(like?.parent ?? null);
  return (
    <BlockableButton
      blocked={(like && unsupportedReason(like)) ?? lostCheckpoint}
      size="compact-xs"
      variant={group.seeds_missing > 0 ? "filled" : "default"}
      disabled={launching}
      aria-label={`Add ${MORE_SEEDS} seeds of ${group.name}`}
      onClick={onLaunch}
    >
      Add {MORE_SEEDS} seeds
    </BlockableButton>
  );
}

/** Return why a fork's checkpoint is not available any more, or null. */
function useLostCheckpoint(parent: ComparedRun["parent"]): string | null {
  const { data, error } = useQuery({
    ...checkpointsQuery(parent?.run_id ?? 0),
    enabled: parent?.run_id != null,
  });
  if (parent === null) return null;
  if (parent.run_id === null) return "These runs were forked from a run to which you have no access.";
  const begun = `These runs were forked from run ${parent.run_id}`;
  if (isNotFound(error)) return `${begun}, which was purged.`;
  if (!data || data.some(({ id, available }) => id === parent.checkpoint_id && available)) return null;
  return `${begun} at ${exact(parent.step, "steps")}, and that checkpoint is no longer stored.`;
}

const MORE_SEEDS = 3;

type Standing = Verdict["standings"][number];

/** Return the runs of a group. */
const membersOf = ({ run_ids }: Standing, known: readonly ComparedRun[]) =>
  known.filter(({ id }) => run_ids.includes(id));

/** Launch a group's settings with new seeds. Pass the new runs that fit into the comparison to `onMade`. */
function useMoreSeeds(
  known: readonly ComparedRun[],
  room: number,
  onMade: (made: number[], group: Standing) => void,
) {
  const launch = useSeedOf();
  return useMutation({
    mutationFn: async (group: Standing) => {
      const members = membersOf(group, known);
      const [first] = members;
      if (!first) return [];
      const last = Math.max(...members.map(({ config }) => Number(config["seed"] ?? 0)));
      const seeds = Array.from({ length: MORE_SEEDS }, (_, place) => last + 1 + place);
      const answers = await Promise.allSettled(seeds.map((seed) => launch(first, seed)));
      // Refused requests have already shown a notification.
      return answers.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value.id] : []));
    },
    onSuccess: (made, group) => {
      if (made.length === 0) return;
      onMade(made.slice(0, room), group);
      const launched = `${plural(made.length, "run")} of ${group.name} launched: ${numbered(made)}`;
      const beyond = made.slice(room);
      notifyDone(
        beyond.length === 0
          ? launched
          : `${launched}. A comparison has at most ${MAX_RUNS} runs, so it does not include ${numbered(beyond)}`,
      );
    },
  });
}

const numbered = (ids: number[]) => ids.map((id) => `#${id}`).join(", ");

/** Launch a run with another seed from the same start. A fork uses the same checkpoint. */
function useSeedOf() {
  const clone = useCloneRun();
  const fork = useForkRun();
  return ({ id, name, parent, config }: ComparedRun, seed: number) => {
    if (!parent?.run_id || !parent.checkpoint_id) return clone.mutateAsync({ id, name, overrides: { seed } });
    const { run_id, checkpoint_id } = parent;
    const forked = fork.mutateAsync({ id: run_id, checkpoint_id, name, overrides: { ...config, seed } });
    forked.catch(notifyProblem);
    return forked;
  };
}
