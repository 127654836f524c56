/** What the form asks for, from what was typed and chosen. */

import type { Acting, Checkpoint, EvaluationChoices, EvaluationRequest } from "@/api/types";
import { exact, short } from "@/ui/format";

export interface Draft {
  /** "newest", "best", or the number of a checkpoint. */
  checkpoint: string;
  protocol: string;
  /** The number of a set of start points, for a protocol that begins at some. */
  startSet: string;
  /** Empty: as many as the protocol has. */
  episodes: string;
  seed: string;
  acting: Acting["name"];
  epsilon: string;
}

export const FIELDS = ["checkpoint", "protocol", "start_set", "episodes", "seed", "acting"] as const;
type Field = (typeof FIELDS)[number] | "epsilon";
export type Problems = Partial<Record<Field, string>>;

const MOST_EPISODES = 1000;
const USUAL_EPSILON = 0.05;

export function firstDraft(choices: EvaluationChoices, chosen: Checkpoint | undefined): Draft {
  const usual = choices.usual_acting;
  return {
    checkpoint: chosen ? String(chosen.id) : "newest",
    protocol: choices.usual_protocol,
    startSet: "",
    episodes: "",
    seed: "1",
    acting: usual.name,
    epsilon: String(usual.epsilon ?? USUAL_EPSILON),
  };
}

const isWhole = (text: string, least: number, most: number) =>
  /^\d+$/.test(text.trim()) && Number(text) >= least && Number(text) <= most;

/** What the server would refuse, by field. */
export function problemsOf({ episodes, seed, acting, epsilon }: Draft): Problems {
  const found: Problems = {};
  if (episodes.trim() !== "" && !isWhole(episodes, 1, MOST_EPISODES))
    found.episodes = `A whole number from 1 to ${exact(MOST_EPISODES)}.`;
  if (!isWhole(seed, 0, 2 ** 53)) found.seed = "A whole number, 0 or more.";
  const share = epsilon.trim() === "" ? Number.NaN : Number(epsilon);
  if (acting === "epsilon-greedy" && !(share >= 0 && share <= 1)) found.epsilon = "A number from 0 to 1.";
  return found;
}

export function requestOf(draft: Draft): EvaluationRequest {
  const { checkpoint, protocol, startSet, episodes, seed, acting, epsilon } = draft;
  return {
    checkpoint: checkpoint === "newest" || checkpoint === "best" ? checkpoint : Number(checkpoint),
    protocol,
    ...(startSet !== "" && { start_set: Number(startSet) }),
    seed: Number(seed),
    acting: acting === "epsilon-greedy" ? { name: acting, epsilon: Number(epsilon) } : { name: acting },
    ...(episodes.trim() !== "" && { episodes: Number(episodes) }),
  };
}

const BEST_BY = { evaluation: "by evaluation", training: "by training return" };

/** By what a checkpoint is the best: "by evaluation". */
export const bestBy = ({ best_by }: Pick<Checkpoint, "best_by">) =>
  best_by === null ? "" : BEST_BY[best_by];

/** The checkpoints to choose from, newest first: those that are still kept, and two that are named by what they are. */
export function checkpointChoices(checkpoints: readonly Checkpoint[]): { value: string; label: string }[] {
  const kept = checkpoints
    .filter(({ available }) => available)
    .toSorted((a, b) => b.step - a.step || b.id - a.id);
  const [newest] = kept;
  const best = kept.find((one) => one.best);
  return [
    { value: "newest", label: newest ? `Newest, now at ${short(newest.step, "steps")}` : "Newest" },
    ...(best ? [{ value: "best", label: `Best ${bestBy(best)}, now at ${short(best.step, "steps")}` }] : []),
    ...kept.map(({ id, step }) => ({ value: String(id), label: `At ${exact(step, "steps")}` })),
  ];
}
