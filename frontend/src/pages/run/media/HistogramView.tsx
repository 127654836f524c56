import { Text } from "@mantine/core";
import { useId } from "react";
import type { MediaItem } from "@/api/types";
import { exact, score, short } from "@/ui/format";
import { coarser, type Histogram, histogramOf, rangeOf, spread, type MediaViewProps } from "./mediaData";
import classes from "./media.module.css";

/** Columns of the overview. */
const MAX_COLUMNS = 60;
/** Bins of a column of the overview. */
const MAX_BINS = 64;
const WIDTH = 600;
const HEIGHT = 160;

/** The histogram of one step as bars, and those of all steps as columns whose shade is the density. */
export function HistogramView({ items, all }: MediaViewProps) {
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
