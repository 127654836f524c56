import { Button, Text, Title } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import { gameFigureQuery } from "@/api/games";
import { byProject } from "@/api/projectFilter";
import type { Game, MethodScore, ScoreRow, ScoreTable } from "@/api/types";
import { FigureFrame } from "@/charts/FigureFrame";
import { useCurrentProject } from "@/ui/currentProject";
import { DataTable } from "@/ui/DataTable";
import { exact, formatInterval, humanPercent, plural, score } from "@/ui/format";
import { Score } from "@/ui/Quantity";
import { RunDot } from "@/ui/RunDot";
import { evaluationText, methodText, sourceText } from "./texts";
import classes from "./games.module.css";

interface ScoreTableCardProps {
  game: Game;
  table: ScoreTable;
  level: 2 | 3;
}

/** Fewer bars add nothing to the table. */
const MIN_BARS = 3;

export const hasBars = ({ rows }: ScoreTable): boolean => rows.length >= MIN_BARS;

/** Scores by one protocol with its description, ranking and bars. */
export function ScoreTableCard({ game, table, level }: ScoreTableCardProps) {
  const by = table.normalized_by;
  return (
    <section className={classes.card} aria-label={table.title}>
      <Title order={level} size="h2">
        {table.title} {table.sentence && <span className={classes.protocol}>{table.protocol}</span>}
      </Title>
      {table.apart_because && (
        <Text size="sm" mt={4} maw={860}>
          {table.apart_because}
        </Text>
      )}
      <Text size="sm" c="dimmed" mt={4} maw={860}>
        {table.sentence}{" "}
        {by &&
          `“Of human” is 0 % at the random score of ${score(by.random)} and 100 % at the human score of ${score(by.human)} (${by.source}, ${by.table}).`}
        {!by && table.sentence && `No human-normalized score: ${table.not_normalized_because}.`}
        {table.protocol === "human-starts" &&
          " The papers' start points were not published. Each run names those it used."}
        {table.starts && ` All scores are from the same start points: ${table.starts.slice(0, 8)}.`}
      </Text>
      <div className={hasBars(table) ? classes.both : classes.alone}>
        <div>
          <ScoreRows table={table} />
        </div>
        {hasBars(table) && <ScoreBars game={game} table={table} />}
      </div>
    </section>
  );
}

const ROW = 26;
const AXES = 64;
/** Bar chart of the ranked scores of a table. */
function ScoreBars({ game, table }: { game: Game; table: ScoreTable }) {
  const project = useCurrentProject();
  const bars = table.rows.length;
  const points = () =>
    Promise.resolve({
      header: ["player", "score", "interval_low", "interval_high"],
      rows: table.rows.map(({ player, score, method }) => [
        player,
        score,
        ...(method?.interval ?? [null, null]),
      ]),
    });
  return (
    <FigureFrame
      title="Scores of methods"
      label={`Scores in ${game.name} by ${table.title} as bars: ${plural(bars, "player")}. The table has the same data.`}
      query={gameFigureQuery(game.slug, {
        protocol: table.protocol,
        starts: table.starts,
        ...byProject(project),
      })}
      zoom={null}
      onZoom={() => undefined}
      revision={table.protocol}
      legend={false}
      height={AXES + ROW * Math.max(3, bars)}
      empty="No score is a finite number."
      file={`${game.slug}-${table.protocol.replaceAll(/\W+/g, "-")}`}
      points={points}
    />
  );
}

/** Number of runs shown at first. */
const INITIAL_RUNS = 20;

/** Methods and published scores by rank, and then the best checkpoint of each run. */
function ScoreRows({ table }: { table: ScoreTable }) {
  return (
    <>
      <Rows table={table} rows={table.rows} />
      {table.runs.length > 0 && <Runs table={table} />}
    </>
  );
}

function Runs({ table }: { table: ScoreTable }) {
  const [all, setAll] = useState(false);
  const { runs, runs_total: total } = table;
  const hidden = all ? 0 : Math.max(0, runs.length - INITIAL_RUNS);
  return (
    <section aria-label={`Best checkpoint of each run, ${table.title}`}>
      <Title order={3} size="sm" mt="md">
        Best checkpoint of each run
      </Title>
      <Text size="xs" c="dimmed" mb={4}>
        Chosen by these scores, so they are too high on average and have no rank. Means of methods use the
        last evaluated checkpoint.
      </Text>
      <Rows table={table} rows={runs.slice(0, runs.length - hidden)} />
      {hidden > 0 && (
        <Button variant="subtle" size="compact-sm" mt={8} onClick={() => setAll(true)}>
          Show {plural(hidden, "more run")}
        </Button>
      )}
      {runs.length < total && (
        <Text size="sm" c="dimmed" mt={8}>
          The best {runs.length} of {exact(total, "runs")}. The CSV file has all.
        </Text>
      )}
    </section>
  );
}

function Rows({ table, rows }: { table: ScoreTable; rows: readonly ScoreRow[] }) {
  return (
    <DataTable
      className={classes.ranking}
      verticalSpacing={6}
      horizontalSpacing="xs"
      rows={rows}
      rowKey={({ ours, player }, place) => (ours ? `run ${ours.evaluation_id}` : `${player} ${place}`)}
      rowProps={({ ours, method }) => ({ "data-ours": ours || method ? true : undefined })}
      columns={[
        rows.some(({ rank }) => rank !== null) && {
          title: "Rank",
          cell: ({ rank }) => rank ?? "–",
          cellProps: (row) => ({ className: classes.rank, title: row.unranked_because ?? undefined }),
        },
        { title: "Player", cell: (row) => <Player row={row} /> },
        { title: "Score", numeric: true, cell: (row) => <RowScore row={row} /> },
        table.normalized_by !== null && {
          title: "Of human",
          numeric: true,
          cell: (row) => humanPercent(row.human_normalized),
          cellProps: (row) => ({ title: score(row.human_normalized) }),
        },
      ]}
    />
  );
}

function Player({ row }: { row: ScoreRow }) {
  if (row.ours) return <OurPlayer row={row} ours={row.ours} />;
  return row.method ? <Method of={row.method} /> : <PublishedPlayer row={row} />;
}

function RowScore({ row: { ours, method, score: value, sources } }: { row: ScoreRow }) {
  const interval = ours?.interval ?? method?.interval;
  return (
    <>
      <div className={classes.mean}>
        <Score value={value} meaning={ours || method ? "Mean" : sources.length > 0 ? "Published" : "Best"} />
      </div>
      {interval && (
        <div
          className={classes.interval}
          title={`95 % interval of the mean over ${method ? "runs" : "episodes"}`}
        >
          {formatInterval(interval)}
        </div>
      )}
    </>
  );
}

function Method({ of }: { of: MethodScore }) {
  return (
    <>
      <div>{of.method}</div>
      <div className={classes.dim}>{methodText(of)}</div>
    </>
  );
}

function OurPlayer({ row, ours }: { row: ScoreRow; ours: NonNullable<ScoreRow["ours"]> }) {
  return (
    <>
      <div className={classes.player}>
        <RunDot run={ours.run} />
        <span>
          <Link to={`/runs/${ours.run.id}`}>{ours.run.name}</Link>{" "}
          <span className={classes.dim}>
            #{ours.run.id}
            {ours.run.archived && " archived"}
          </span>
        </span>
      </div>
      <div className={classes.dim}>{evaluationText(ours)}</div>
      {row.unranked_because && <div className={classes.dim}>Not ranked: {row.unranked_because}</div>}
    </>
  );
}

function PublishedPlayer({ row }: { row: ScoreRow }) {
  return (
    <>
      <div>{row.player}</div>
      <div className={classes.dim}>{sourceText(row) || `Not ranked: ${row.unranked_because}`}</div>
      {row.note && <div className={classes.dim}>Note: {row.note}</div>}
    </>
  );
}
