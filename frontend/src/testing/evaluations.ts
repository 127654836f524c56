import type {
  Acting,
  Evaluation,
  EvaluationChoices,
  EvaluationPage,
  EvaluationWithEpisodes,
  StartSet,
} from "@/api/types";
import { FINISHED_JOB } from "./jobs";

const SAMPLED: Acting = { name: "sampled", epsilon: null };

/** A finished evaluation. */
export function anEvaluation(id: number, changes: Partial<Evaluation> = {}): Evaluation {
  return {
    id,
    ...FINISHED_JOB,
    start_set: null,
    acting: SAMPLED,
    episodes_done: 30,
    episodes_total: 30,
    mean: 19.8,
    median: 20,
    distinct: 30,
    standard_error: 0.25,
    interval: [19.2, 20.3],
    human_normalized: 135,
    normalized_by: {
      source: "Gorila (Nair et al. 2015)",
      table: "table 4",
      protocol: "no-op-5min",
      random: -20.7,
      human: 9.3,
    },
    not_normalized_because: null,
    unlike_training: [],
    ...changes,
  };
}

const NOTHING_FOUND = {
  mean: null,
  median: null,
  distinct: null,
  standard_error: null,
  interval: null,
  human_normalized: null,
  normalized_by: null,
  finished_at: null,
};

/** An evaluation that is queued, in progress or failed, so it has no results. */
export function anUnfinishedEvaluation(id: number, changes: Partial<Evaluation> = {}): Evaluation {
  return anEvaluation(id, { ...NOTHING_FOUND, state: "queued", done: 0, episodes_done: 0, ...changes });
}

/** An evaluation with an episode for each score. */
export function withEpisodes(evaluation: Evaluation, ...scores: number[]): EvaluationWithEpisodes {
  const episodes = scores.map((score, number) => ({
    number,
    score,
    frames: 4000 + number,
    frames_before: 8,
    length: 998 + number,
    ended: number === 1 ? ("cut off" as const) : ("over" as const),
  }));
  return { ...evaluation, episodes };
}

export function evaluationPage(
  items: Evaluation[],
  changes: Partial<Omit<EvaluationPage, "items">> = {},
): EvaluationPage {
  return { items, next_cursor: null, total: items.length, best: null, ...changes };
}

/** A start set of Pong. */
export function aStartSet(id: number, changes: Partial<StartSet> = {}): StartSet {
  return {
    id,
    project: "Main",
    may_edit: true,
    env: "ALE/Pong-v5",
    name: "Ana's games",
    player: "human",
    protocol: "human-starts",
    source: "Ana, three games",
    emulator: "ale-py 0.12.1",
    points: 100,
    sha256: "cd".repeat(32),
    bytes: 100_000,
    created_at: "2026-01-01T09:00:00Z",
    ...changes,
  };
}

/** The evaluation options of a PAAC run on an Atari game. */
export const CHOICES: EvaluationChoices = {
  protocols: [
    {
      name: "no-op-5min",
      title: "No-op starts, 5 minutes",
      sentence: "30 episodes of at most 5 minutes.",
      source: "Gorila, section 5.2",
      episodes: 30,
      start_sets: null,
      unfit_because: null,
    },
    {
      name: "no-op-30min",
      title: "No-op starts, 30 minutes",
      sentence: "30 episodes of at most 30 minutes.",
      source: "PAAC, section 5",
      episodes: 30,
      start_sets: null,
      unfit_because: null,
    },
    {
      name: "episodes",
      title: "Episodes",
      sentence: "30 episodes.",
      source: "Ours",
      episodes: 30,
      start_sets: null,
      unfit_because: "episodes is not for ALE/Pong-v5: use no-op-5min or no-op-30min",
    },
  ],
  usual_protocol: "no-op-5min",
  acting: [
    { acting: SAMPLED, unfit_because: null },
    { acting: { name: "greedy", epsilon: null }, unfit_because: null },
    { acting: { name: "epsilon-greedy", epsilon: 0.05 }, unfit_because: null },
  ],
  usual_acting: SAMPLED,
};
