import { Anchor, Skeleton, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";
import { blockQuery, type BlockSource, type Chart as ChartContent, chartQuery } from "@/api/reports";
import type {
  ReportBlock,
  ReportPractice,
  ReportReplay,
  ReportReview,
  ReportTable,
  StoredBlock,
} from "@/api/types";
import type { Zoom } from "@/charts/curveView";
import { FigureFrame } from "@/charts/FigureFrame";
import { titleOf, useFigureKind } from "@/charts/figureKind";
import { DRAWN_HEADER, drawnRows } from "@/charts/points";
import { shown } from "@/config-form/draft";
import { nameDecision } from "@/replays/futures/words";
import { REVIEW } from "@/replays/moment";
import { PracticeVerdict } from "@/replays/review/PracticeVerdict";
import { ReviewRibbon } from "@/replays/review/ReviewRibbon";
import { ReviewFacts } from "@/replays/review/Summary";
import { describeMistake, mistakesOf, reviewedOf, summarize } from "@/replays/review/words";
import { DataTable } from "@/ui/DataTable";
import { capitalize, exact, score, short } from "@/ui/format";
import { Markdown } from "@/ui/Markdown";
import { QueryError } from "@/ui/QueryError";
import { lackOf, titleOfKind, toEditable } from "./draft";
import classes from "./reports.module.css";

interface BlockViewProps {
  source: BlockSource;
  block: ReportBlock;
  place: number;
}

/** Placeholder of an unfinished block. Only its author sees it. */
export function DraftView({ block }: { block: StoredBlock & { kind: "draft" } }) {
  const lack = lackOf(toEditable(block));
  return (
    <p className={classes.draft}>
      {titleOfKind(toEditable(block))} not finished{lack && `: it ${lack}`}. Readers do not see it.
    </p>
  );
}

/** A block as readers see it. */
export function BlockView({ source, block, place }: BlockViewProps) {
  if (block.kind === "text")
    return (
      <div className={classes.block}>
        <Markdown imageSource={source.file}>{block.markdown}</Markdown>
      </div>
    );
  return (
    <section className={classes.card} aria-label={block.caption || `Block ${place + 1}: ${block.kind}`}>
      {block.kind === "chart" ? (
        <Chart source={source} block={block} place={place} />
      ) : (
        <Fetched source={source} block={block} place={place} />
      )}
      {block.caption && (
        <Text size="sm" c="dimmed" mt={8} className={classes.block}>
          {block.caption}
        </Text>
      )}
    </section>
  );
}

function Chart({ source, block, place }: BlockViewProps & { block: ReportBlock & { kind: "chart" } }) {
  const [zoom, setZoom] = useState<Zoom | null>(null);
  const query = chartQuery(source, block, place);
  const chart = useQuery({ ...query, enabled: false }).data;
  const title = titleOf(useFigureKind(block.address), block.address, chart?.figure);
  return (
    <>
      <FigureFrame
        title={title}
        label={block.caption || title}
        query={{ ...query, select: figureOf }}
        zoom={zoom}
        onZoom={setZoom}
        revision={block.address}
        legend
        wholeLegend
        height={320}
        file={`report-chart-${place + 1}`}
        points={() => Promise.resolve({ header: DRAWN_HEADER, rows: chart ? drawnRows(chart.figure) : [] })}
      />
      <Missing>{chart?.missing}</Missing>
    </>
  );
}

const figureOf = (chart: ChartContent) => chart.figure;

function Missing({ children }: { children: string | null | undefined }) {
  return children ? <p className={classes.dim}>{children}</p> : null;
}

function Fetched({ source, block, place }: BlockViewProps) {
  const content = useQuery(blockQuery(source, block, place));
  if (content.isPending)
    return <Skeleton height={120} radius="sm" role="status" aria-label="Loading the block…" />;
  if (!content.data)
    return <QueryError error={content.error ?? new Error("")} retry={() => void content.refetch()} />;
  const { table, replay, review, practice, missing, problem } = content.data;
  if (table)
    return (
      <>
        <TableOf table={table} columns={block.kind === "table" && block.of === "runs" ? block.columns : []} />
        <Missing>{missing}</Missing>
      </>
    );
  if (replay) return <ReplayOf source={source} replay={replay} />;
  if (review) return <ReviewView review={review} signedIn={source.signedIn} />;
  if (practice) return <PracticeView practice={practice} signedIn={source.signedIn} />;
  return <Text size="sm">{`This ${block.kind} cannot be shown: ${problem ?? "it has no content."}`}</Text>;
}

interface TableOfProps {
  table: ReportTable;
  /** The run fields of the columns, for a table of runs. */
  columns?: readonly string[];
}

function TableOf({ table, columns = [] }: TableOfProps) {
  return (
    <>
      <DataTable
        label="Table"
        verticalSpacing="xs"
        rows={table.rows}
        rowKey={(_, place) => place}
        columns={table.header.map((title, column) => ({
          title,
          headProps: { className: sideOf(table.rows[0]?.[column]) },
          cell: (row: ReportTable["rows"][number]) => {
            const cell = row[column];
            return typeof cell === "number" ? cellText(cell, columns[column]) : (cell ?? "–");
          },
          cellProps: (row: ReportTable["rows"][number]) => ({ className: sideOf(row[column]) }),
        }))}
      />
      {table.rows.length === 0 && <Text size="sm">No rows yet.</Text>}
    </>
  );
}

/** Format a cell: settings like other pages, counts with all digits, other numbers as scores. */
function cellText(value: number, column = ""): string {
  if (column.startsWith("config.")) return shown(value);
  return Number.isInteger(value) ? exact(value) : score(value);
}

/** Align numbers and unknown numbers to the right. */
const sideOf = (cell: unknown) =>
  typeof cell === "string" || cell === undefined ? undefined : classes.number;

function ReplayOf({ source, replay }: { source: BlockSource; replay: ReportReplay }) {
  const poster = replay.poster_file_id === null ? undefined : source.file(replay.poster_file_id);
  const summary = `${replay.run_name} #${replay.run_id} at ${short(replay.step)} steps: return ${score(replay.episode_return)}`;
  return (
    <>
      <video
        className={classes.film}
        aria-label={summary}
        src={source.file(replay.file_id)}
        poster={poster}
        controls
        loop
        muted
        playsInline
      />
      <Text size="sm" mt={8} className={classes.block}>
        {source.signedIn ? (
          <Anchor component={Link} to={`/runs/${replay.run_id}/replays`} size="sm">
            {summary}
          </Anchor>
        ) : (
          summary
        )}
      </Text>
    </>
  );
}

interface ReviewViewProps {
  review: ReportReview;
  /** True if the reader may open the replay. */
  signedIn: boolean;
}

/** A review in a report: its marks, the summary and the mistakes. */
function ReviewView({ review, signedIn }: ReviewViewProps) {
  const { document, run_id, replay_id } = review;
  const reviewed = reviewedOf(review);
  const name = `${review.run_name} #${run_id} at ${short(review.step)} steps: return ${score(review.episode_return)}`;
  return (
    <Stack gap="xs">
      <ReviewRibbon
        reviewed={reviewed}
        place={(decision) => (decision + 0.5) / Math.max(1, document.decisions)}
      />
      <Text size="sm" fw={600}>
        {summarize(review)}
      </Text>
      <ReviewFacts document={document} reviewed={reviewed} />
      <ul aria-label="Mistakes">
        {mistakesOf(reviewed).map((each) => (
          <li key={each.decision}>
            <Text size="sm">
              {capitalize(nameDecision(each.decision))}: {describeMistake(each)}
            </Text>
          </li>
        ))}
      </ul>
      <ReviewName run={run_id} replay={replay_id} name={name} signedIn={signedIn} />
    </Stack>
  );
}

interface ReviewNameProps {
  run: number;
  replay: number;
  name: string;
  signedIn: boolean;
}

/** Name of a reviewed replay, with a link to its review for readers who may open it. */
function ReviewName({ run, replay, name, signedIn }: ReviewNameProps) {
  if (!signedIn) return <Text size="sm">{name}</Text>;
  return (
    <Anchor component={Link} to={`/runs/${run}/replays?replays=${replay}&${REVIEW}=1`} size="sm">
      {name}
    </Anchor>
  );
}

interface PracticeViewProps {
  practice: ReportPractice;
  signedIn: boolean;
}

/** The verdict on practice in a report. */
function PracticeView({ practice, signedIn }: PracticeViewProps) {
  const { run_id, run_name, replay_id, step, document } = practice;
  return (
    <Stack gap="xs">
      <PracticeVerdict document={document} />
      <ReviewName
        run={run_id}
        replay={replay_id}
        name={`${run_name} #${run_id} at ${short(step)} steps`}
        signedIn={signedIn}
      />
    </Stack>
  );
}
