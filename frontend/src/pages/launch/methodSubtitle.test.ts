import { expect, it } from "vitest";
import { subtitleOf } from "./methodSubtitle";

it.each([
  [
    "A3C",
    "A3C: asynchronous actor-critic (Mnih et al. 2016, S2).",
    "Asynchronous actor-critic. Mnih et al. 2016, S2",
  ],
  ["One-step Q", "One-step Q-learning (Mnih et al. 2016).", "Mnih et al. 2016"],
  [
    "PAAC n-step Q",
    "n-step Q in PAAC's framework (Clemente 2017).",
    "n-step Q in PAAC's framework. Clemente 2017",
  ],
  ["DQN", "Learns from (some) replays.", "Learns from (some) replays"],
  ["DQN", "", ""],
])("adds to the title %s what %j contains", (title, description, beside) => {
  expect(subtitleOf({ title, description })).toBe(beside);
});
