import { waitFor } from "@testing-library/react";
import { expect } from "vitest";
import type { ReactElement } from "react";
import type { ComparedRun, Comparison, Thresholds, Verdict } from "@/api/types";
import { renderPage } from "./render";
import { aRun, runListOf } from "./runs";
import { type Asked, serve } from "./server";

/** A run of a comparison. */
export const compared = (id: number, name: string, changes: Partial<ComparedRun> = {}): ComparedRun => ({
  ...aRun({ id, name }),
  label: `${name} #${id}`,
  dash: "solid",
  ...changes,
});

export const RUNS = [
  compared(1, "slow"),
  compared(2, "fast", { config: { ...aRun().config, seed: 7 } }),
  compared(5, "new one"),
];

const values = (last: number | "NaN", max: number, mean: number) => ({ last, max, mean_last_100: mean });

/** Runs that differ in some settings. */
export function comparisonOf(runs: ComparedRun[]): Comparison {
  const named = (...settings: [string | number, string | number]) =>
    Object.fromEntries(runs.map(({ id }, at) => [String(id), settings[at] ?? "other"]));
  return {
    runs,
    differences: [
      {
        field: "learning_rate",
        title: "Learning rate",
        same: runs.length === 1,
        values: named(0.01, 0.5),
        marked: [2],
      },
      { field: "gamma", title: "Discount", same: true, values: named(0.99, 0.99), marked: [] },
    ],
    provenance: [],
    groups: runs.map(({ id }) => [id]),
    summary: runs.map(({ id }) => ({
      run_id: id,
      episodes: id * 10,
      wall_seconds: id * 60,
      metrics: {
        "episode/return": values(id === 2 ? "NaN" : 5, id === 1 ? 9 : 7, 10 - id),
        "train/custom": values(0.1, 0.2, 0.3),
      },
    })),
  };
}

const group = (name: string, run_ids: number[], n: number, value: number) => ({
  name,
  run_ids,
  n,
  failed: 0,
  stopped: 0,
  scores: Array<number>(n).fill(value),
  no_interval: n < 3 ? "An interval needs 3 runs." : "",
  mean: { value, low: n < 3 ? null : value - 2, high: n < 3 ? null : value + 2 },
  seeds_missing: Math.max(0, 3 - n),
  color: "#0072b2",
  dash: "solid" as const,
});

export const VERDICT: Verdict = {
  at: 200_000,
  standings: [group("PAAC · lr 0.5", [2], 3, 40), group("PAAC · lr 0.01", [1], 3, 8)],
  quantity: "Mean return over the last tenth of the first 1 M steps.",
  pairs: [
    {
      best: 0,
      other: 1,
      text: "PAAC · lr 0.5 beats PAAC · lr 0.01 at 200 k steps: +32, 95 % interval [29, 35], n = 3 and 3.",
      warning: "",
      significant: true,
      difference: { value: 32, low: 29, high: 35 },
      probability: { value: 0.969, low: 0.9, high: 1 },
    },
  ],
  message: "",
};

const place = (steps: number) => ({ steps, frames: 4 * steps, seconds: steps / 100 });

export const TIMES: Thresholds = {
  score: 450,
  common: 450,
  compared_with: 0,
  groups: [
    {
      name: "PAAC · lr 0.01",
      run_ids: [1],
      n: 1,
      reached: 1,
      median: place(12_000),
      untimed_reason: null,
      speed_up: 1,
      data_efficiency: 1,
      color: "#0072b2",
      dash: "solid",
      runs: [{ run_id: 1, reached: place(12_000) }],
    },
    {
      name: "PAAC · lr 0.5",
      run_ids: [2],
      n: 1,
      reached: 0,
      median: null,
      untimed_reason: null,
      speed_up: null,
      data_efficiency: null,
      color: "#e69f00",
      dash: "solid",
      runs: [{ run_id: 2, reached: null }],
    },
  ],
  message: "",
};

/** Open the page at a URL, with a server that answers its requests. */
export function openComparison(page: ReactElement, at: string, more: Record<string, object> = {}) {
  const server = serve({
    "GET /compare": ({ query }: Asked) => {
      const ids = query.get("runs")?.split(",").map(Number) ?? [];
      return comparisonOf(RUNS.filter(({ id }) => ids.includes(id)));
    },
    "GET /compare/verdict": VERDICT,
    "GET /compare/thresholds": TIMES,
    "GET /runs": ({ query }: Asked) =>
      runListOf(RUNS.filter(({ name }) => name.includes(query.get("text") ?? ""))),
    ...more,
  });
  const { router, client } = renderPage(page, { at, routes: [{ path: "/elsewhere", element: null }] });
  const address = (search: string) => waitFor(() => expect(router.state.location.search).toBe(search));
  return { server, client, router, address };
}
