import { Anchor, Skeleton, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { aggregatesFigureQuery, aggregatesQuery } from "@/api/suites";
import type { Aggregates, Study, SuiteGame, SuiteResult } from "@/api/types";
import { FigureFrame } from "@/charts/FigureFrame";
import type { Cell } from "@/charts/csv";
import { type Column, DataTable } from "@/ui/DataTable";
import { humanPercent, plural, score } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import classes from "./studies.module.css";

type Estimate = NonNullable<SuiteResult["mean"]>;

/** Statistics in the order of the figure. */
const STATISTICS = [
  ["Median", "median"],
  ["Interquartile mean", "interquartile_mean"],
  ["Mean", "mean"],
  ["Optimality gap", "optimality_gap"],
  ["Median of 57, estimated", "estimated_median"],
] as const;
const SEEDS_FOR_INTERVALS = 3;
const SEEDS_FOR_INTERQUARTILE = 5;
const FIGURE_HEIGHT = 250;

/** Return true if a study varies the game, so that it has statistics over games. */
export function isSuite({ specification }: Study): boolean {
  return (specification.axes ?? []).some(
    ({ field, values }) =>
      (field === "env" || (Array.isArray(field) && field.length === 1 && field[0] === "env")) &&
      (values ?? []).every((value) => String(value).startsWith("ALE/")),
  );
}

/** Scores over the games of a study, with their statistics and the progress of the evaluations. */
export function SuiteCard({ study }: { study: Study }) {
  const aggregates = useQuery(aggregatesQuery(study.id));
  return (
    <section className={classes.card} aria-label="Scores over the games">
      <Title order={2} mb="xs">
        Scores over the games
      </Title>
      {aggregates.isPending && <Skeleton height={160} role="status" aria-label="Loading scores…" />}
      {aggregates.isError && !aggregates.data && (
        <QueryError error={aggregates.error} retry={() => void aggregates.refetch()} />
      )}
      {aggregates.data && <Results study={study} aggregates={aggregates.data} />}
    </section>
  );
}

function Results({ study, aggregates }: { study: Study; aggregates: Aggregates }) {
  const { results, estimate_source: source } = aggregates;
  const hasScores = results.some(({ normalized_games: games }) => games > 0);
  return (
    <>
      {hasScores && (
        <>
          <FigureFrame
            title="Human-normalized scores"
            hint="Random is 0 %, human is 100 %. The statistics are those of rliable."
            label="Statistics of human-normalized scores over the games. The table below has the same data."
            query={aggregatesFigureQuery(study.id)}
            zoom={null}
            onZoom={() => undefined}
            revision=""
            legend={results.length > 1}
            height={FIGURE_HEIGHT}
            file={`study-${study.id}-scores`}
            points={() => Promise.resolve({ header: HEADER, rows: cells(results) })}
          />
          <Statistics results={results} />
        </>
      )}
      {results.map((result) => (
        <Games key={result.label} result={result} named={results.length > 1} />
      ))}
      <p className={classes.dim}>
        A run counts with the evaluation of its last checkpoint. {notes(results)}
        {results.some(({ estimated_median: estimate }) => estimate) &&
          ` The median over 57 games is estimated with the weights of ${source.source}, ${source.table}.`}
      </p>
    </>
  );
}

function notes(results: readonly SuiteResult[]): string {
  const tables = new Set(
    results.flatMap(({ normalized_by: by }) => by.map(({ source, table }) => `${source}, ${table}`)),
  );
  const said = [];
  if (tables.size > 0) said.push(`Random is 0 %, human is 100 % (${[...tables].join("; ")}).`);
  const scored = results.filter(({ seeds }) => seeds > 0);
  if (scored.some(({ seeds }) => seeds < SEEDS_FOR_INTERVALS))
    said.push(`Intervals need ${SEEDS_FOR_INTERVALS} scored runs of each game.`);
  else if (scored.some(({ seeds }) => seeds < SEEDS_FOR_INTERQUARTILE))
    said.push(`The interval of an interquartile mean needs ${SEEDS_FOR_INTERQUARTILE} runs of each game.`);
  const failed = results.flatMap(({ games }) => games).reduce((sum, game) => sum + game.failed, 0);
  if (failed > 0) said.push(`${plural(failed, "failed run")} left out.`);
  return said.join(" ");
}

function Statistics({ results }: { results: readonly SuiteResult[] }) {
  const shown = STATISTICS.filter(([, name]) => results.some((result) => result[name]));
  return (
    <DataTable
      label="Statistics over the games"
      className={classes.table}
      verticalSpacing={6}
      rows={results}
      rowKey={({ label }) => label}
      columns={[
        { title: "Method", cell: ({ label }) => label },
        ...shown.map(([title, name]): Column<SuiteResult> => ({
          title,
          numeric: true,
          cell: (result) => <Statistic estimate={result[name]} />,
        })),
        { title: "Games", numeric: true, cell: (result) => result.normalized_games },
      ]}
    />
  );
}

function Statistic({ estimate }: { estimate: Estimate | null }) {
  if (!estimate) return <>–</>;
  return (
    <>
      {humanPercent(estimate.value)}
      {estimate.low !== null && (
        <div className={classes.dim}>
          {score(estimate.low)} to {score(estimate.high)}
        </div>
      )}
    </>
  );
}

/** Table of the games of one setting. */
function Games({ result, named }: { result: SuiteResult; named: boolean }) {
  return (
    <div className={classes.suiteGames}>
      <Text size="sm" fw={500}>
        {named && `${result.label}: `}
        {evaluated(result)}, by {result.protocol}
      </Text>
      <DataTable
        label={named ? `Games of ${result.label}` : "Games"}
        className={classes.table}
        verticalSpacing={4}
        rows={result.games}
        rowKey={({ env }) => env}
        columns={[
          {
            title: "Game",
            cell: ({ slug, name }) =>
              slug ? (
                <Anchor component={Link} to={`/games/${slug}`} size="sm">
                  {name}
                </Anchor>
              ) : (
                name
              ),
          },
          { title: "Score", numeric: true, cell: (game) => score(game.score) },
          {
            title: "Normalized",
            numeric: true,
            cell: ({ percent }) => humanPercent(percent),
            cellProps: (game) => ({ title: game.not_normalized_because ?? undefined }),
          },
          { title: "Progress", cell: progress },
        ]}
      />
    </div>
  );
}

function evaluated({ games }: SuiteResult): string {
  const total = games.reduce((sum, { runs }) => sum + runs, 0);
  const scored = games.reduce((sum, game) => sum + game.scored, 0);
  return `${scored} of ${plural(total, "run")} evaluated`;
}

function progress({ runs, finished, scored, episodes_done: done, episodes_total: total }: SuiteGame): string {
  if (scored === runs) return "Evaluated";
  if (total > 0) return `Evaluating: ${done} of ${plural(total, "episode")}`;
  if (finished > scored) return `${finished} of ${runs} trained, ${scored} evaluated`;
  return `${finished} of ${runs} trained`;
}

const HEADER = ["method", "statistic", "percent", "low", "high"];

/** Return the statistics for a CSV file. */
function cells(results: readonly SuiteResult[]): Cell[][] {
  return results.flatMap((result) =>
    STATISTICS.flatMap(([title, name]) => {
      const estimate = result[name];
      return estimate ? [[result.label, title, estimate.value, estimate.low, estimate.high]] : [];
    }),
  );
}
