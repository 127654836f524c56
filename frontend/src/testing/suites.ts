import type { Aggregates, GameList, SuiteGame, SuiteResult } from "@/api/types";

/** A list of two games. */
export function aGameList(changes: Partial<GameList> = {}): GameList {
  return {
    name: "atari-2",
    title: "Atari-2",
    sentence: "Two games.",
    source: "Somebody 2020",
    games: [
      { env: "ALE/Pong-v5", name: "Pong", slug: "pong" },
      { env: "ALE/Qbert-v5", name: "Qbert", slug: "qbert" },
    ],
    protocol: "sticky-30min",
    preset: "paac-sticky",
    total_steps: 10_000_000,
    ...changes,
  };
}

/** A game with one evaluated run. */
export function aSuiteGame(name: string, changes: Partial<SuiteGame> = {}): SuiteGame {
  return {
    env: `ALE/${name}-v5`,
    name,
    slug: name.toLowerCase(),
    runs: 1,
    finished: 1,
    failed: 0,
    scored: 1,
    score: 5,
    percent: 50,
    not_normalized_because: null,
    episodes_done: 0,
    episodes_total: 0,
    ...changes,
  };
}

/** A method with one scored run in each of two games. */
export function aSuiteResult(changes: Partial<SuiteResult> = {}): SuiteResult {
  const only = (value: number) => ({ value, low: null, high: null });
  return {
    label: "PAAC",
    protocol: "sticky-30min",
    protocol_title: "Sticky actions, 30 minutes",
    games: [aSuiteGame("Pong"), aSuiteGame("Qbert", { percent: 150 })],
    normalized_games: 2,
    seeds: 1,
    median: only(100),
    interquartile_mean: only(100),
    mean: only(100),
    optimality_gap: only(25),
    estimated_median: null,
    normalized_by: [{ source: "DQN Zoo", table: "atari_data.py" }],
    ...changes,
  };
}

export function theAggregates(...results: SuiteResult[]): Aggregates {
  return { results, estimate_source: { source: "Atari-5", table: "plot_util.py" } };
}
