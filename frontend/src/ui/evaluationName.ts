import type { Evaluation } from "@/api/types";
import { short } from "./format";

/** Return the name of an evaluation, such as "no-op-5min at 1.2 M steps". */
export const evaluationName = ({ protocol, step }: Pick<Evaluation, "protocol" | "step">) =>
  `${protocol} at ${short(step, "steps")}`;
