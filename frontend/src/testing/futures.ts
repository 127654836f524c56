import type { Challenge, Futures, FuturesDocument } from "@/api/types";

const estimate = (count: number, mean: number, interval: [number, number]) => ({ count, mean, interval });

/** A test that shows FIRE to be better than NOOP. */
export const aChallenge = (): Challenge => ({
  taken: "NOOP",
  action: "FIRE",
  scale: 1,
  pairs: 64,
  e_value: 152.4,
  is_better: true,
  pairs_needed: null,
  loss: estimate(64, 0.4, [0.25, 0.55]),
});

/**
 * Eight futures from decision 2 with the returns 0 to 3.5, half of them bootstrapped. The agent took NOOP, but FIRE is
 * better.
 */
export function aFuturesDocument(changes: Partial<FuturesDocument> = {}): FuturesDocument {
  const returns = Array.from({ length: 8 }, (_, at) => at / 2);
  return {
    ...estimate(8, 1.75, [0.8, 2.7]),
    env: "ALE/Breakout-v5",
    algorithm: "paac",
    checkpoint_step: 1000,
    protocol: "no-op-5min",
    seed: 1,
    episode: 0,
    decision: 2,
    horizon: 200,
    until: "horizon",
    first: [],
    acting: { name: "sampled", epsilon: null },
    temperature: 1,
    agent: null,
    agent_step: null,
    gamma: 0.99,
    clip_rewards: true,
    value: 0.5,
    returns,
    terminal: estimate(4, 2.75, [2, 3.5]),
    bootstrapped: estimate(4, 0.75, [0, 1.5]),
    score: estimate(8, 3, [2, 4]),
    score_fan: [],
    survival: [],
    actions: [
      {
        name: "NOOP",
        probability: 0.25,
        action_value: null,
        ...estimate(8, 0.5, [0.25, 0.75]),
      },
      { name: "FIRE", probability: 0.75, action_value: null, ...estimate(8, 1.5, [1, 2]) },
    ],
    challenge: aChallenge(),
    futures: returns.map((discounted_return, at) => ({
      discounted_return,
      bootstrap: at < 4 ? 0.1 : null,
      score: at,
      decisions: 200,
      life_lost_after: at < 3 ? 10 * (at + 1) : null,
      ended: at < 4 ? "stopped" : "over",
    })),
    seconds: 1.5,
    ...changes,
  };
}

/** Finished futures of replay 2 from decision 2. */
export function someFutures(id: number, changes: Partial<Futures> = {}): Futures {
  return {
    id,
    replay_id: 2,
    run_id: 1,
    agent_run_id: 1,
    agent_step: 2000,
    decision: 2,
    futures: 8,
    horizon: 200,
    until: "horizon",
    temperature: 1,
    first: [],
    each_action: false,
    job_id: id,
    state: "done",
    reason: null,
    traceback: null,
    done: 200,
    total: 200,
    value: 0.5,
    mean: 1.75,
    interval: [0.8, 2.7],
    videos: [],
    document: aFuturesDocument(),
    worker: null,
    created_at: "2026-01-01T10:30:00Z",
    started_at: "2026-01-01T10:30:10Z",
    finished_at: "2026-01-01T10:31:00Z",
    ...changes,
  };
}
