import type { MetricValue } from "@/api/types";

const DASH = "–";
const SCALES: [number, string][] = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

/** Return two to three significant digits: 1.2, 12, 120, 0.0013. */
function digits(value: number): string {
  const size = Math.abs(value);
  if (size > 0 && size < 0.1) return String(Number(value.toPrecision(2)));
  const places = size >= 99.95 || Number.isInteger(value) ? 0 : size >= 9.95 ? 1 : 2;
  const text = value.toFixed(places);
  return places > 0 ? text.replace(/\.?0+$/, "") : text;
}

/** Return a short number with an optional unit: 950, 1.2 k, 34.5 M steps. */
export function short(value: number | null | undefined, unit = ""): string {
  if (value === null || value === undefined || Number.isNaN(value)) return DASH;
  const suffix = unit && ` ${unit}`;
  if (!Number.isFinite(value)) return (value > 0 ? "∞" : "−∞") + suffix;
  for (const [size, letter] of SCALES) {
    // Use the larger scale from 999 500, which would be "1000 k".
    if (Math.abs(value) >= size * 0.9995) return `${minus(scaled(value / size))} ${letter}${suffix}`;
  }
  return `${minus(Number.isInteger(value) ? String(value) : digits(value))}${suffix}`;
}

function scaled(value: number): string {
  const size = Math.abs(value);
  return size >= 99.95 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, "");
}

/** Six decimals, or six significant digits for smaller numbers. */
const EXACTLY = new Intl.NumberFormat("en-US", {
  maximumFractionDigits: 6,
  maximumSignificantDigits: 6,
  roundingPriority: "morePrecision",
});

/** Return all digits with thin spaces between thousands: 1 234 567 steps. */
export function exact(value: number | null | undefined, unit = ""): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "not known";
  const suffix = unit && ` ${unit}`;
  return minus(EXACTLY.format(value).replaceAll(",", "\u202f")) + suffix;
}

/** Return a rate: 4.1 k/s. */
export function rate(perSecond: number | null | undefined): string {
  if (perSecond === null || perSecond === undefined || Number.isNaN(perSecond)) return DASH;
  const text = short(perSecond >= 10 ? Math.round(perSecond) : perSecond);
  return /[A-Z k]$/i.test(text) ? `${text}/s` : `${text} /s`;
}

/** Return a score or a loss: 21, −20.4, 0.0013. Words of the API such as "NaN" stay as they are. */
export function score(value: MetricValue | null | undefined): string {
  if (value === null || value === undefined) return DASH;
  if (typeof value === "string") return value === "-Infinity" ? "−∞" : value === "Infinity" ? "∞" : value;
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  if (size >= 100_000) return short(value);
  if (size > 0 && size < 0.001) return minus(value.toExponential(1));
  return minus(digits(value));
}

/** Return the decimals that show a difference of this width in two digits, or null if there is none. */
export const decimalsFor = (width: number): number | null =>
  width > 0 && Number.isFinite(width) ? Math.min(6, Math.max(0, 1 - Math.floor(Math.log10(width)))) : null;

/** Return a number with this many decimals, or as a score if they are not known or too few to show its sign. */
export function formatDecimals(value: MetricValue | null, decimals: number | null): string {
  if (value === null || decimals === null || !Number.isFinite(Number(value))) return score(value);
  const text = Number(value).toFixed(decimals);
  const isLost = Number(text) === 0 && Number(value) !== 0;
  return isLost || Math.abs(Number(value)) >= 100_000 ? score(value) : minus(text);
}

type Ends = readonly [MetricValue, MetricValue];

/** Return an interval. Both ends have the unit and the decimals that its width needs: 36 to 68, 120.01 k to 120.04 k. */
export function formatInterval(ends: Ends, decimals?: number | null): string {
  const [low, high] = ends.map(Number) as [number, number];
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (decimals !== undefined || !(high - low > 0 && Number.isFinite(size)))
    return ends.map((end) => formatDecimals(end, decimals ?? null)).join(" to ");
  const isLarge = size >= 100_000;
  const [unit, letter] = (isLarge && SCALES.find(([scale]) => size >= scale)) || [1, ""];
  const isWhole = !isLarge && Number.isInteger(low) && Number.isInteger(high);
  const places = isWhole ? 0 : decimalsFor((high - low) / unit);
  return [low, high]
    .map((end) => `${formatDecimals(end / unit, places)}${letter && ` ${letter}`}`)
    .join(" to ");
}

/** Return a percentage of a human score: 75.3 %, −4 %. */
export function humanPercent(value: MetricValue | null): string {
  const rounded = typeof value === "number" ? Number(value.toFixed(Math.abs(value) < 99.95 ? 1 : 0)) : value;
  return rounded === null ? "–" : `${score(rounded)}\u00a0%`;
}

function minus(text: string): string {
  return text.replaceAll("-", "−");
}

const DURATIONS: [number, string][] = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
];

/** Return a duration in its two largest units: 3 h 12 min, 45 s. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return DASH;
  const rest = Math.max(0, Math.round(seconds));
  if (rest === 0) return seconds > 0 ? "< 1 s" : "0 s";
  const first = DURATIONS.findIndex(([size]) => rest >= size);
  const [size, name] = DURATIONS[first] ?? [1, "s"];
  const whole = Math.floor(rest / size);
  const next = DURATIONS[first + 1];
  const second = next ? Math.floor((rest - whole * size) / next[0]) : 0;
  return next && second > 0 ? `${whole} ${name} ${second} ${next[1]}` : `${whole} ${name}`;
}

/** Return how long ago a time was: "just now", "5 min ago", "3 d ago". */
export function ago(time: string | null | undefined, now: number = Date.now()): string {
  if (!time) return DASH;
  const seconds = (now - Date.parse(time)) / 1000;
  if (Number.isNaN(seconds)) return DASH;
  if (seconds < 5) return "just now";
  const [size, name] = DURATIONS.find(([one]) => seconds >= one) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${name} ago`;
}

// Making a format takes longer than using it.
const EXACT_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** Return the exact local time, for tooltips. */
export function exactTime(time: string | null | undefined): string {
  if (!time) return "not known";
  return EXACT_TIME.format(new Date(time));
}

/** Return a memory or file size: 16 GiB, 3.4 MiB. */
export function bytes(count: number | null | undefined): string {
  if (count === null || count === undefined) return DASH;
  const names = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = count;
  let scale = 0;
  while (value >= 1023.95 && scale < names.length - 1) {
    value /= 1024;
    scale += 1;
  }
  return `${scaled(value)} ${names[scale] ?? ""}`;
}

/** Return a metric value in its catalog unit: sizes as 650 MiB or 1.2 MiB/s, others as scores. */
export function measured(value: MetricValue | null | undefined, unit = ""): string {
  if (!isSize(unit) || typeof value !== "number" || !Number.isFinite(value)) return score(value);
  return bytes(value) + unit.slice("bytes".length);
}

/** Return true if a unit counts bytes, so that each value has a unit. */
export const isSize = (unit: string): boolean => unit.startsWith("bytes");

/** Return the progress, from 0 to 1, in whole percent. It is never 100 before the end. */
export function wholePercent(share: number): number {
  // 0.29 * 100 is slightly below 29.
  return Math.floor(Math.min(1, Math.max(0, share)) * 100 + 1e-9);
}

/** Return a progress from 0 to 1 as text: 42 %. */
export function percent(share: number): string {
  const whole = wholePercent(share);
  return share > 0 && whole === 0 ? "< 1 %" : `${whole} %`;
}

/** Return a fraction rounded to the nearest percent: 8 of 9 is 89 %. */
export function nearestPercent(share: number): string {
  const whole = Math.round(share * 100);
  if (share > 0 && whole === 0) return "< 1 %";
  return share < 1 && whole === 100 ? "> 99 %" : `${whole} %`;
}

/** Return a count with its noun: "1 run", "3 runs". */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${exact(count)} ${count === 1 ? noun : nouns}`;
}

/** Return a paper's label for use in a sentence: "figure S5". */
export function lowerCaseLabel(label: string): string {
  return label.replace("Figure", "figure").replace("Table", "table");
}

/** Return the environment's name without its family prefix. */
export const shortEnv = (env: string) => env.replace(/^(ALE|Arcadia)\//, "");

/** Return a text with a capital first letter. */
export const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Return a clause of the server as a sentence. */
export const toSentence = (clause: string): string =>
  `${capitalize(clause)}${/[.!?]$/.test(clause) ? "" : "."}`;
