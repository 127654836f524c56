import type {
  BestScore,
  Game,
  GameCard,
  Games,
  MethodScore,
  RunScore,
  ScoreRow,
  ScoreTable,
  WaitingRun,
} from "@/api/types";
import { QUEUED_JOB } from "./jobs";

const TABLE_4 = {
  source: "Gorila (Nair et al. 2015)",
  table: "table 4",
  protocol: "no-op-5min",
  random: -20.7,
  human: 9.3,
};

/** A score of run 1 in Pong by no-op-5min. */
export function aRunScore(changes: Partial<RunScore> = {}): RunScore {
  return {
    evaluation_id: 5,
    protocol: "no-op-5min",
    run: { id: 1, name: "pong-1", algorithm: "paac", method: "PAAC", color: "#3451b2", archived: false },
    mean: 18.3,
    interval: [17.1, 19.4],
    episodes: 30,
    short: false,
    step: 5_000_000,
    frames: 20_000_000,
    start_set: null,
    acting: { name: "sampled", epsilon: null },
    finished_at: "2026-01-01T10:00:00Z",
    human_normalized: 130,
    normalized_by: TABLE_4,
    not_normalized_because: null,
    ...changes,
  };
}

export function aBestScore(changes: Partial<BestScore> = {}): BestScore {
  return { picture: null, ...aRunScore(), ...changes };
}

/** The mean of PAAC's three runs in Pong by no-op-5min. */
export function aMethodScore(changes: Partial<MethodScore> = {}): MethodScore {
  return {
    protocol: "no-op-5min",
    starts: null,
    algorithm: "paac",
    method: "PAAC",
    runs: 3,
    failed: 0,
    mean: 18.3,
    interval: [17.1, 19.4],
    steps: [5_000_000, 5_000_000],
    human_normalized: 130,
    ...changes,
  };
}

/** A game with one run and one score. */
export function aGameCard(name: string, changes: Partial<GameCard> = {}): GameCard {
  return {
    slug: name.toLowerCase().replaceAll(" ", "-"),
    name,
    env: `ALE/${name.replaceAll(" ", "")}-v5`,
    runs: 1,
    evaluated_runs: 1,
    published: 8,
    methods: [aMethodScore()],
    best: [aBestScore()],
    picture: null,
    ...changes,
  };
}

/** A game that has only published scores. */
export const unplayed = (name: string): GameCard =>
  aGameCard(name, { runs: 0, evaluated_runs: 0, methods: [], best: [] });

/** The response for some games, with averages by no-op-5min. */
export function gamesOf(games: GameCard[], averages: Partial<Games["averages"][number]>[] = [{}]): Games {
  return {
    games,
    averages: averages.map((changes) => ({
      protocol: "no-op-5min",
      algorithm: "paac",
      method: "PAAC",
      title: "No-op starts, 5 minutes",
      sentence: "30 episodes.",
      games: 2,
      normalized_games: 2,
      runs: 6,
      mean: 194,
      median: 24.2,
      interquartile_mean: 42.04,
      normalized_by: [{ source: TABLE_4.source, table: TABLE_4.table }],
      ...changes,
    })),
    published_averages: [
      {
        source: "A3C (Mnih et al. 2016)",
        table: "table 1",
        protocol: "human-starts",
        method: "A3C, LSTM",
        training_time: "4 days on CPU",
        mean: 623,
        median: 112.6,
      },
    ],
  };
}

/** A row of a method. */
export function aMethodRow(changes: Partial<MethodScore> = {}): ScoreRow {
  const method = aMethodScore(changes);
  return {
    ...aScoreRow(),
    player: method.method,
    score: method.mean,
    human_normalized: method.human_normalized,
    method,
    ours: null,
  };
}

/** A row of a run. With sources, a published score. */
export function aScoreRow(changes: Partial<ScoreRow> = {}): ScoreRow {
  const published = (changes.sources ?? []).length > 0;
  return {
    rank: 1,
    unranked_because: null,
    player: published ? "Gorila" : "pong-1 #1",
    score: 18.3,
    human_normalized: 130,
    method: null,
    ours: published ? null : aRunScore(),
    sources: [],
    note: null,
    ...changes,
  };
}

export function aScoreTable(rows: ScoreRow[], changes: Partial<ScoreTable> = {}): ScoreTable {
  return {
    protocol: "no-op-5min",
    starts: null,
    title: "No-op starts, 5 minutes",
    sentence: "30 episodes.",
    apart_because: null,
    normalized_by: TABLE_4,
    not_normalized_because: null,
    runs_total: rows.filter(({ ours }) => ours).length,
    rows: rows.filter(({ ours }) => !ours),
    runs: rows.filter(({ ours }) => ours),
    ...changes,
  };
}

export function aGame(tables: ScoreTable[], changes: Partial<Game> = {}): Game {
  return {
    slug: "pong",
    name: "Pong",
    env: "ALE/Pong-v5",
    runs: 1,
    evaluated_runs: 1,
    picture: null,
    tables,
    waiting: [],
    waiting_total: 0,
    ...changes,
  };
}

/** Run 9 without a score, which can be evaluated. */
export function aWaitingRun(changes: Partial<WaitingRun> = {}): WaitingRun {
  return {
    id: 9,
    name: "new",
    method: "PAAC",
    color: "#000000",
    state: "running",
    step: 100,
    has_checkpoint: true,
    evaluation: null,
    ...changes,
  };
}

type WaitingEvaluation = NonNullable<WaitingRun["evaluation"]>;

/** A queued evaluation of a run without a score. */
export function aWaitingEvaluation(changes: Partial<WaitingEvaluation> = {}): WaitingEvaluation {
  return {
    ...QUEUED_JOB,
    id: 3,
    state: "queued",
    reason: "A worker is about to take it.",
    protocol: "no-op-5min",
    step: 100,
    episodes_done: 0,
    episodes_total: 30,
    ...changes,
  };
}
