import type { Evaluation } from "./types";

/** Return true if a job waits or is in progress. */
export const isUnfinished = ({ state }: Pick<Evaluation, "state">) =>
  state === "queued" || state === "running";
