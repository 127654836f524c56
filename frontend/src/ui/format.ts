import type { MetricValue } from "@/api/types";

const DASH = "–";
const SCALES: [number, string][] = [
  [1e12, "T"],
  [1e9, "G"],
  [1e6, "M"],
  [1e3, "k"],
];

/** Two to three significant digits: 1.2, 12, 120, 0.0013. */
function digits(value: number): string {
  const size = Math.abs(value);
  if (size > 0 && size < 0.1) return String(Number(value.toPrecision(2)));
  const places = size >= 99.95 || Number.isInteger(value) ? 0 : size >= 9.95 ? 1 : 2;
  const text = value.toFixed(places);
  return places > 0 ? text.replace(/\.?0+$/, "") : text;
}

/** A large number in few letters: 950, 1.2 k, 34.5 M, with the unit after it if given ("1.2 M steps"). */
export function short(value: number | null | undefined, unit = ""): string {
  if (value === null || value === undefined || Number.isNaN(value)) return DASH;
  const tail = unit && ` ${unit}`;
  if (!Number.isFinite(value)) return (value > 0 ? "∞" : "−∞") + tail;
  for (const [size, letter] of SCALES) {
    // 999 500 would read "1000 k": from there on the larger scale is taken.
    if (Math.abs(value) >= size * 0.9995) return `${minus(scaled(value / size))} ${letter}${tail}`;
  }
  return `${minus(Number.isInteger(value) ? String(value) : digits(value))}${tail}`;
}

function scaled(value: number): string {
  const size = Math.abs(value);
  return size >= 99.95 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, "");
}

/** To a millionth, and six digits of what is smaller. */
const EXACTLY: Intl.NumberFormatOptions = {
  maximumFractionDigits: 6,
  maximumSignificantDigits: 6,
  roundingPriority: "morePrecision",
};

/** The whole number with thin spaces between thousands: 1 234 567 steps. */
export function exact(value: number | null | undefined, unit = ""): string {
  if (value === null || value === undefined || Number.isNaN(value)) return "not known";
  const tail = unit && ` ${unit}`;
  return minus(value.toLocaleString("en-US", EXACTLY).replaceAll(",", "\u202f")) + tail;
}

/** A rate: 4.1 k/s. */
export function rate(perSecond: number | null | undefined): string {
  if (perSecond === null || perSecond === undefined || Number.isNaN(perSecond)) return DASH;
  const text = short(perSecond >= 10 ? Math.round(perSecond) : perSecond);
  return /[A-Z k]$/i.test(text) ? `${text}/s` : `${text} /s`;
}

/** A return or a loss: 21, −20.4, 0.0013; words of the API such as "NaN" read as they are. */
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

/** A share of a person's score: 75.3 %, −4 %. */
export function percentWords(value: MetricValue | null): string {
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

/** A time span in its two largest units: 3 h 12 min, 45 s. */
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

/** How long ago: "just now", "5 min ago", "3 d ago". */
export function ago(time: string | null | undefined, now: number = Date.now()): string {
  if (!time) return DASH;
  const seconds = (now - Date.parse(time)) / 1000;
  if (Number.isNaN(seconds)) return DASH;
  if (seconds < 5) return "just now";
  const [size, name] = DURATIONS.find(([one]) => seconds >= one) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${name} ago`;
}

/** The exact local time, for hovering. */
export function exactTime(time: string | null | undefined): string {
  if (!time) return "not known";
  return new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

/** Memory and file sizes: 16 GiB, 3.4 MiB. */
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

/** A metric's value in its unit of the catalogue: sizes as 650 MiB or 1.2 MiB/s, all else as a score. */
export function measured(value: MetricValue | null | undefined, unit = ""): string {
  if (!isSize(unit) || typeof value !== "number" || !Number.isFinite(value)) return score(value);
  return bytes(value) + unit.slice("bytes".length);
}

/** Whether a unit of the catalogue counts bytes, so that each value says it. */
export const isSize = (unit: string): boolean => unit.startsWith("bytes");

/** The whole percent that a share between 0 and 1 has reached; never 100 before the end. */
export function wholePercent(share: number): number {
  // 0.29 of a hundred comes out a hair below 29.
  return Math.floor(Math.min(1, Math.max(0, share)) * 100 + 1e-9);
}

/** How much is done, from 0 to 1: 42 %. */
export function percent(share: number): string {
  const whole = wholePercent(share);
  return share > 0 && whole === 0 ? "< 1 %" : `${whole} %`;
}

/** A share that is no progress, to the nearest percent: 8 of 9 are 89 %. */
export function nearestPercent(share: number): string {
  const whole = Math.round(share * 100);
  if (share > 0 && whole === 0) return "< 1 %";
  return share < 1 && whole === 100 ? "> 99 %" : `${whole} %`;
}

/** "1 run", "3 runs". */
export function plural(count: number, noun: string, nouns = `${noun}s`): string {
  return `${exact(count)} ${count === 1 ? noun : nouns}`;
}

/** A paper's label within a sentence, as "figure S5". */
export function inSentence(label: string): string {
  return label.replace("Figure", "figure").replace("Table", "table");
}
