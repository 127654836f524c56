import { Button, Table, Text } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";
import type { ScoreRow, ScoreTable } from "@/api/types";
import { exact, humanPercent, plural, score } from "@/ui/format";
import { Score } from "@/ui/Quantity";
import { RunDot } from "@/ui/RunDot";
import classes from "./games.module.css";
import { evaluationText, intervalText, sourceText } from "./texts";

/** Number of runs shown at first. Published scores are always shown. */
const INITIAL_RUNS = 20;

/** Ranked rows of one table. */
export function ScoreRows({ table }: { table: ScoreTable }) {
  const [all, setAll] = useState(false);
  const ours = table.rows.filter((row) => row.ours);
  const hidden = all ? new Set() : new Set(ours.slice(INITIAL_RUNS));
  const ranks = table.rows.some(({ rank }) => rank !== null);
  return (
    <>
      <Table className={classes.ranking} verticalSpacing={6} horizontalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            {ranks && <Table.Th scope="col">Rank</Table.Th>}
            <Table.Th scope="col">Player</Table.Th>
            <Table.Th scope="col" ta="right">
              Score
            </Table.Th>
            {table.normalized_by && (
              <Table.Th scope="col" ta="right">
                Of human
              </Table.Th>
            )}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {table.rows
            .filter((row) => !hidden.has(row))
            .map((row, place) => (
              <Row
                key={row.ours ? `run ${row.ours.evaluation_id}` : `${row.player} ${place}`}
                row={row}
                ranks={ranks}
                normalized={table.normalized_by !== null}
              />
            ))}
        </Table.Tbody>
      </Table>
      {hidden.size > 0 && (
        <Button variant="subtle" size="compact-sm" mt={8} onClick={() => setAll(true)}>
          Show {plural(hidden.size, "more run")}
        </Button>
      )}
      {ours.length < table.runs_total && (
        <Text size="sm" c="dimmed" mt={8}>
          The best {ours.length} of {exact(table.runs_total, "runs")}. The CSV file has all.
        </Text>
      )}
    </>
  );
}

function Row({ row, ranks, normalized }: { row: ScoreRow; ranks: boolean; normalized: boolean }) {
  const { ours } = row;
  return (
    <Table.Tr data-ours={ours ? true : undefined}>
      {ranks && (
        <Table.Td className={classes.rank} title={row.unranked_because ?? undefined}>
          {row.rank ?? "–"}
        </Table.Td>
      )}
      <Table.Td>{ours ? <OurPlayer row={row} ours={ours} /> : <PublishedPlayer row={row} />}</Table.Td>
      <Table.Td ta="right">
        <div className={classes.mean}>
          <Score value={row.score} meaning={ours ? "Mean" : row.sources.length > 0 ? "Published" : "Best"} />
        </div>
        {ours?.interval && (
          <div className={classes.interval} title="95 % interval of the mean">
            {intervalText(ours.interval)}
          </div>
        )}
      </Table.Td>
      {normalized && (
        <Table.Td ta="right" title={score(row.human_normalized)}>
          {humanPercent(row.human_normalized)}
        </Table.Td>
      )}
    </Table.Tr>
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
