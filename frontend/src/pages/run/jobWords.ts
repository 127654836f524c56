/** Texts that describe evaluations and calibrations. */

import type { Evaluation } from "@/api/types";

/** Why a result is superseded. */
export const SUPERSEDED_REASON =
  "The run was resumed from an earlier checkpoint and trained these steps again.";

export const describeOrigin = ({ origin }: Pick<Evaluation, "origin">) =>
  origin === "schedule" ? "by schedule" : "manually";
