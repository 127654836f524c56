import classes from "./Sparkline.module.css";

const WIDTH = 80;
const HEIGHT = 24;
/** Keeps the line inside the picture. */
const MARGIN = 1.5;

interface SparklineProps {
  values: readonly (number | null)[];
  color: string;
  /** Accessible description of the line. */
  label: string;
}

/** Small curve without axes. */
export function Sparkline({ values, color, label }: SparklineProps) {
  const drawn = values.flatMap((value, at) => (value === null ? [] : [{ at, value }]));
  const heights = drawn.map(({ value }) => value);
  const low = Math.min(...heights);
  const span = Math.max(...heights) - low;
  const x = (at: number) => MARGIN + (at / Math.max(1, values.length - 1)) * (WIDTH - 2 * MARGIN);
  // A constant is drawn in the middle.
  const y = (value: number) =>
    HEIGHT - MARGIN - (span > 0 ? (value - low) / span : 0.5) * (HEIGHT - 2 * MARGIN);
  const [only] = drawn;
  return (
    <svg className={classes.line} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label}>
      {drawn.length === 1 && only ? (
        <circle cx={x(only.at)} cy={y(only.value)} r={1.5} fill={color} />
      ) : (
        <polyline
          points={drawn.map(({ at, value }) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(" ")}
          stroke={color}
        />
      )}
    </svg>
  );
}
