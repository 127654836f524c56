import { Anchor, Button, Slider, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useId, useMemo, useRef, useState } from "react";
import { fileAddress } from "@/api/client";
import { mediaSeriesQuery } from "@/api/media";
import type { MediaItem, MediaSeries, Run } from "@/api/types";
import { useVisible } from "@/charts/useVisible";
import { DataTable } from "@/ui/DataTable";
import { exact, plural, score, short } from "@/ui/format";
import { QueryError } from "@/ui/QueryError";
import {
  type Cell,
  coarser,
  type Histogram,
  histogramOf,
  type MediaViewProps,
  rangeOf,
  spread,
  tableOf,
} from "./mediaData";
import classes from "./media.module.css";

const VIEWS = { image: ImageView, video: VideoView, histogram: HistogramView, table: TableView };

interface MediaCardProps {
  run: Run;
  series: MediaSeries;
}

/** One name and kind of media, with a slider over its steps. It is fetched once it can be seen. */
export function MediaCard({ run, series }: MediaCardProps) {
  const card = useRef<HTMLElement>(null);
  const wasSeen = useOnceTrue(useVisible(card));
  const items = useQuery({ ...mediaSeriesQuery(run.id, series), enabled: wasSeen });
  return (
    <section ref={card} className={classes.card} aria-label={`${series.name}, ${series.kind}`}>
      <Title order={3} className={classes.name}>
        {series.name}
      </Title>
      {items.data ? (
        <MediaSteps series={series} items={items.data} />
      ) : items.isError ? (
        <QueryError error={items.error} retry={() => void items.refetch()} />
      ) : (
        <Text size="sm" c="dimmed" className={classes.waiting}>
          Loading {series.kind}…
        </Text>
      )}
    </section>
  );
}

/** Return true from the first time that the value is true. */
function useOnceTrue(value: boolean): boolean {
  const [wasTrue, setWasTrue] = useState(value);
  if (value && !wasTrue) setWasTrue(true);
  return wasTrue || value;
}

function MediaSteps({ series, items }: { series: MediaSeries; items: readonly MediaItem[] }) {
  const steps = useMemo(() => [...new Set(items.map(({ step }) => step))], [items]);
  // Follow the newest step until the user chooses one.
  const [chosen, setChosen] = useState<number | null>(null);
  const place = chosen === null ? steps.length - 1 : Math.max(0, steps.indexOf(chosen));
  const step = steps[place] ?? 0;
  const View = VIEWS[series.kind];
  const choose = (index: number) => setChosen(index === steps.length - 1 ? null : (steps[index] ?? null));
  return (
    <>
      <View items={items.filter((item) => item.step === step)} all={items} />
      <div className={classes.steps}>
        <Text size="sm" className={classes.step} title={exact(step, "steps")}>
          Step {short(step)}
          <span className={classes.dim}>
            {" "}
            {place + 1} of {steps.length}
          </span>
        </Text>
        {steps.length > 1 && (
          <Slider
            className={classes.slider}
            min={0}
            max={steps.length - 1}
            value={place}
            label={(index) => short(steps[index] ?? 0, "steps")}
            thumbLabel={`Step of ${series.name}`}
            thumbValueText={(index) => short(steps[index] ?? 0, "steps")}
            onChange={choose}
          />
        )}
      </div>
    </>
  );
}

/** Smaller images are shown with sharp pixels. */
const SMALL_PIXELS = 200;

const describe = ({ caption, name, step }: MediaItem) => caption ?? `${name} at ${short(step, "steps")}`;

/** The images of one step. A click opens the full size. */
function ImageView({ items }: MediaViewProps) {
  return (
    <div className={classes.pictures}>
      {items.map((item) => (
        <figure key={item.id}>
          <Anchor href={fileAddress(item.file_id ?? 0)} target="_blank" rel="noreferrer">
            <Image item={item} />
          </Anchor>
          <Caption item={item} />
        </figure>
      ))}
    </div>
  );
}

function Image({ item }: { item: MediaItem }) {
  const [isSmall, setIsSmall] = useState(false);
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return <Text size="sm">The browser cannot show this picture. The file may be damaged.</Text>;
  return (
    <img
      src={fileAddress(item.file_id ?? 0)}
      alt={describe(item)}
      decoding="async"
      className={isSmall ? "pixelated" : undefined}
      onError={() => setBroken(true)}
      onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
        setIsSmall(Math.max(naturalWidth, naturalHeight) <= SMALL_PIXELS)
      }
    />
  );
}

/** The videos of one step. They may be GIF or WebP files, which browsers show as images. */
function VideoView({ items }: MediaViewProps) {
  return (
    <div className={classes.pictures}>
      {items.map((item) => (
        <figure key={item.id}>
          {item.media_type?.startsWith("video/") ? <Video item={item} /> : <Image item={item} />}
          <Caption item={item} />
        </figure>
      ))}
    </div>
  );
}

function Video({ item }: { item: MediaItem }) {
  return (
    <video
      src={fileAddress(item.file_id ?? 0)}
      aria-label={describe(item)}
      controls
      loop
      muted
      playsInline
      preload="metadata"
    />
  );
}

function Caption({ item }: { item: MediaItem }) {
  if (!item.caption) return null;
  return (
    <Text component="figcaption" size="sm" c="dimmed">
      {item.caption}
    </Text>
  );
}

/** Columns of the overview. */
const MAX_COLUMNS = 60;
/** Bins of a column of the overview. */
const MAX_BINS = 64;
const WIDTH = 600;
const HEIGHT = 160;

/** The histogram of one step as bars, and those of all steps as columns whose shade is the density. */
function HistogramView({ items, all }: MediaViewProps) {
  const steps = spread(all, MAX_COLUMNS);
  const range = rangeOf(all.map(histogramOf));
  const [shown] = items;
  if (!shown) return null;
  return (
    <div className={classes.histograms}>
      <Bars item={shown} range={range} />
      {all.length > 1 && <OverSteps items={steps} shown={shown} range={range} />}
    </div>
  );
}

interface BarsProps {
  item: MediaItem;
  range: readonly [number, number];
}

function Bars({ item, range: [low, high] }: BarsProps) {
  const { edges, counts } = histogramOf(item);
  const largest = Math.max(...counts, 1);
  const x = (value: number) => ((value - low) / (high - low)) * WIDTH;
  const total = counts.reduce((sum, count) => sum + count, 0);
  return (
    <figure>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${item.name} at step ${exact(item.step)}: ${summary({ edges, counts })}`}
        className={classes.plot}
      >
        {counts.map((count, bin) => {
          const left = x(edges[bin] ?? 0);
          // A bin without a width is a single value, drawn as a thin bar.
          const width = Math.max(2, x(edges[bin + 1] ?? 0) - left);
          const height = (count / largest) * (HEIGHT - 4);
          return (
            <rect key={bin} x={left} y={HEIGHT - height} width={width} height={height}>
              <title>{`${score(edges[bin] ?? 0)} to ${score(edges[bin + 1] ?? 0)}: ${exact(count)}`}</title>
            </rect>
          );
        })}
      </svg>
      <div className={classes.axis} aria-hidden>
        <span>{score(low)}</span>
        <span>{score(high)}</span>
      </div>
      <Text component="figcaption" size="sm" c="dimmed">
        {exact(total, "values")}, at most {exact(largest)} in a bin
        {item.caption && ` · ${item.caption}`}
      </Text>
    </figure>
  );
}

interface OverStepsProps {
  items: readonly MediaItem[];
  shown: MediaItem;
  range: readonly [number, number];
}

function OverSteps({ items, shown, range: [low, high] }: OverStepsProps) {
  const titleId = useId();
  const width = WIDTH / items.length;
  const y = (value: number) => HEIGHT - ((value - low) / (high - low)) * HEIGHT;
  const first = items[0]?.step ?? 0;
  const last = items.at(-1)?.step ?? 0;
  const shownColumn = items.findLastIndex(({ step }) => step <= shown.step);
  return (
    <figure>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-labelledby={titleId}
        className={classes.plot}
      >
        <title id={titleId}>
          {`${shown.name} from step ${exact(first)} to ${exact(last)}. Darker is more frequent.`}
        </title>
        {items.map((item, column) => (
          <Column key={item.id} item={item} x={column * width} width={width} y={y} />
        ))}
        <rect
          className={classes.marker}
          x={Math.max(0, shownColumn) * width}
          y={0}
          width={width}
          height={HEIGHT}
        />
      </svg>
      <div className={classes.axis} aria-hidden>
        <span>{short(first, "steps")}</span>
        <span>{short(last, "steps")}</span>
      </div>
      <Text component="figcaption" size="sm" c="dimmed">
        All steps; values from {score(low)} at the bottom to {score(high)} at the top
      </Text>
    </figure>
  );
}

interface ColumnProps {
  item: MediaItem;
  x: number;
  width: number;
  y: (value: number) => number;
}

function Column({ item, x, width, y }: ColumnProps) {
  const { edges, counts } = coarser(histogramOf(item), MAX_BINS);
  const largest = Math.max(...counts, 1);
  return counts.map((count, bin) => {
    const top = y(edges[bin + 1] ?? 0);
    const height = Math.max(1, y(edges[bin] ?? 0) - top);
    return count > 0 ? (
      <rect key={bin} x={x} y={top} width={width} height={height} opacity={0.1 + (0.9 * count) / largest} />
    ) : null;
  });
}

/** Describe a histogram in words, for screen readers. */
function summary({ edges, counts }: Histogram): string {
  const total = counts.reduce((sum, count) => sum + count, 0);
  const largest = counts.indexOf(Math.max(...counts));
  const [low, high] = [edges[largest] ?? 0, edges[largest + 1] ?? 0];
  return `${exact(total, "values")} from ${score(edges[0])} to ${score(edges.at(-1))}, most often from ${score(low)} to ${score(high)}.`;
}

/** Rows that are shown at first. They fit without scrolling. */
const FIRST_ROWS = 10;

/** The tables of one step. */
function TableView({ items }: MediaViewProps) {
  return items.map((item) => {
    const { columns, rows } = tableOf(item);
    return <Rows key={item.id} name={item.name} caption={item.caption} columns={columns} rows={rows} />;
  });
}

interface RowsProps {
  name: string;
  caption: string | null;
  columns: readonly string[];
  rows: readonly (readonly Cell[])[];
}

function Rows({ name, caption, columns, rows }: RowsProps) {
  const [showsAll, setShowsAll] = useState(false);
  const shownRows = showsAll ? rows : rows.slice(0, FIRST_ROWS);
  return (
    <div>
      {caption && (
        <Text size="sm" c="dimmed">
          {caption}
        </Text>
      )}
      <DataTable
        label={`Table ${name}`}
        frameClass={classes.table}
        verticalSpacing={4}
        rows={shownRows}
        rowKey={(_, number) => number}
        columns={columns.map((title, column) => ({
          title,
          numeric: isNumeric(rows, column),
          cell: (row: RowsProps["rows"][number]) => cellText(row[column] ?? null),
        }))}
      />
      {rows.length === 0 && (
        <Text size="sm" c="dimmed">
          This table has no rows.
        </Text>
      )}
      {shownRows.length < rows.length && (
        <Button variant="subtle" size="xs" onClick={() => setShowsAll(true)}>
          Show all {plural(rows.length, "row")}
        </Button>
      )}
    </div>
  );
}

/** Return true if a column has numbers and nothing else but gaps. */
function isNumeric(rows: RowsProps["rows"], column: number): boolean {
  const cells = rows.map((row) => row[column] ?? null).filter((cell) => cell !== null);
  return cells.length > 0 && cells.every((cell) => typeof cell === "number");
}

function cellText(cell: Cell): string {
  if (cell === null) return "–";
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  return typeof cell === "number" ? exact(cell) : cell;
}
