import { Button, Text, Title } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import type { MethodScore, ScoreRow, ScoreTable } from "@/api/types";
import { DataTable } from "@/ui/DataTable";
import { exact, formatInterval, humanPercent, plural, score } from "@/ui/format";
import { Score } from "@/ui/Quantity";
import { RunDot } from "@/ui/RunDot";
import classes from "./games.module.css";
import { evaluationText, methodText, sourceText } from "./texts";

/** Number of runs shown at first. */
const INITIAL_RUNS = 20;

/** Methods and published scores by rank, and then the best checkpoint of each run. */
export function ScoreRows({ table }: { table: ScoreTable }) {
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
