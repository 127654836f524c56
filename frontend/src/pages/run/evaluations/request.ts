/** Draft of the evaluation form, its checks, and the API request. */

import type { Acting, Checkpoint, EvaluationChoices, EvaluationRequest } from "@/api/types";
import { isWholeBetween } from "@/config-form/numbers";
import { exact, short } from "@/ui/format";

export interface Draft {
  /** "newest", "best", or the id of a checkpoint. */
  checkpoint: string;
  protocol: string;
  /** Id of a start set, for protocols that use one. */
  startSet: string;
  /** Empty for the protocol's default. */
  episodes: string;
  seed: string;
  acting: Acting["name"];
  epsilon: string;
}

export const FIELDS = ["checkpoint", "protocol", "start_set", "episodes", "seed", "acting"] as const;
type Field = (typeof FIELDS)[number] | "epsilon";
export type Problems = Partial<Record<Field, string>>;

const MAX_EPISODES = 1000;
const DEFAULT_EPSILON = 0.05;

export function createDraft(choices: EvaluationChoices, chosen: Checkpoint | undefined): Draft {
  const defaultActing = choices.usual_acting;
  return {
    checkpoint: chosen ? String(chosen.id) : "newest",
    protocol: choices.usual_protocol,
    startSet: "",
    episodes: "",
    seed: "1",
    acting: defaultActing.name,
    epsilon: String(defaultActing.epsilon ?? DEFAULT_EPSILON),
  };
}

/** Return what the server would refuse, by field. */
export function findProblems({ episodes, seed, acting, epsilon }: Draft): Problems {
  const problems: Problems = {};
  if (episodes.trim() !== "" && !isWholeBetween(episodes, 1, MAX_EPISODES))
    problems.episodes = `Enter a whole number from 1 to ${exact(MAX_EPISODES)}.`;
  if (!isWholeBetween(seed, 0, 2 ** 53)) problems.seed = "Enter a whole number, 0 or more.";
  const share = epsilon.trim() === "" ? Number.NaN : Number(epsilon);
  if (acting === "epsilon-greedy" && !(share >= 0 && share <= 1))
    problems.epsilon = "Enter a number from 0 to 1.";
  return problems;
}

/** Return the chosen checkpoint for a request: "newest", "best" or its id. */
export const parseCheckpoint = (text: string): EvaluationRequest["checkpoint"] =>
  text === "newest" || text === "best" ? text : Number(text);

export function toRequest(draft: Draft): EvaluationRequest {
  const { checkpoint, protocol, startSet, episodes, seed, acting, epsilon } = draft;
  return {
    checkpoint: parseCheckpoint(checkpoint),
    protocol,
    ...(startSet !== "" && { start_set: Number(startSet) }),
    seed: Number(seed),
    acting: acting === "epsilon-greedy" ? { name: acting, epsilon: Number(epsilon) } : { name: acting },
    ...(episodes.trim() !== "" && { episodes: Number(episodes) }),
  };
}

const BEST_BY = { evaluation: "by evaluation", training: "by training return" };

/** Return the criterion by which a checkpoint is the best: "by evaluation". */
export const bestBy = ({ best_by }: Pick<Checkpoint, "best_by">) =>
  best_by === null ? "" : BEST_BY[best_by];

/** Return the options for the checkpoint: newest, best, then each available one, newest first. */
export function checkpointChoices(checkpoints: readonly Checkpoint[]): { value: string; label: string }[] {
  const available = checkpoints
    .filter((checkpoint) => checkpoint.available)
    .toSorted((a, b) => b.step - a.step || b.id - a.id);
  const [newest] = available;
  const best = available.find((checkpoint) => checkpoint.best);
  return [
    { value: "newest", label: newest ? `Newest, at ${short(newest.step, "steps")}` : "Newest" },
    ...(best ? [{ value: "best", label: `Best ${bestBy(best)}, at ${short(best.step, "steps")}` }] : []),
    ...available.map(({ id, step }) => ({ value: String(id), label: `At ${exact(step, "steps")}` })),
  ];
}
