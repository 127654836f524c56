/** A figure that grows: the server sends what is new in it, which is put behind what is held. */

import type { Figure } from "./types";

type Trace = Figure["data"][number];

/** The whole figure after an answer that may hold only what is new. */
export function grown(held: Figure | undefined, answer: Figure): Figure {
  if (answer.complete || !held) return answer;
  const traces = new Map(held.data.map((trace) => [trace["uid"], trace]));
  return {
    ...answer,
    complete: true,
    data: answer.data.map((rest) => joined(traces.get(rest["uid"]), rest)),
  };
}

/** Of each list keep as many as the answer says, and put its own behind them. */
function joined(held: Trace = {}, { keep, ...rest }: Trace): Trace {
  const whole: Trace = { ...held };
  for (const [name, value] of Object.entries(rest)) {
    const before = held[name];
    const lists = Array.isArray(value) && Array.isArray(before);
    whole[name] = lists ? [...(before as unknown[]).slice(0, Number(keep)), ...(value as unknown[])] : value;
  }
  return whole;
}
