import { expect, it } from "vitest";
import type { Environment, Run, Worker } from "@/api/types";
import { aPreset } from "@/testing/presets";
import { environmentChoices } from "./environmentChoices";
import { queueHint } from "./queueHint";
import { startingPoint } from "./startingPoint";

const presets = [
  aPreset("cartpole", { env: "CartPole-v1", n: 16, lr: 0.003 }),
  aPreset("pong", { env: "Pong", n: 32, lr: 0.0224 }, { title: "The pong" }),
];

it("begins with the named preset, and with the first when none is named", () => {
  expect(startingPoint(presets, [], "pong", undefined)).toMatchObject({ preset: "pong", values: { n: 32 } });
  expect(startingPoint(presets, [], "gone", undefined).preset).toBe("cartpole");
});

it("begins with another run's configuration, marked against the nearest preset", () => {
  const run = { id: 12, config: { env: "Pong", n: 64, lr: 0.0224 } } as unknown as Run;
  expect(startingPoint(presets, [], "cartpole", run)).toMatchObject({
    key: "run 12",
    preset: null,
    values: run.config,
    reference: { title: "The pong", values: presets[1]?.config },
  });
});

it("groups games by kind, under names that hold the id", () => {
  const known: Environment[] = [
    {
      id: "ALE/Pong-v5",
      title: "Pong",
      kind: "atari",
      frames_per_step: 4,
      algorithms: [],
      unfit_because: "",
    },
    {
      id: "CartPole-v1",
      title: "CartPole",
      kind: "vector",
      frames_per_step: 1,
      algorithms: [],
      unfit_because: "",
    },
  ];
  expect(environmentChoices(["CartPole-v1", "ALE/Pong-v5", "New-v0"], known)).toEqual([
    { group: "Classic control", items: [{ value: "CartPole-v1", label: "CartPole · CartPole-v1" }] },
    { group: "Atari games", items: [{ value: "ALE/Pong-v5", label: "Pong · ALE/Pong-v5" }] },
    { group: "Environments", items: [{ value: "New-v0", label: "New-v0" }] },
  ]);
});

it("says where the run will wait", () => {
  const worker = { name: "w", host: "h", queue: "cpu", state: "idle" } as Worker;
  expect(queueHint("auto", [worker])).toContain("starts at once");
  expect(queueHint("cpu", [{ ...worker, state: "busy" }])).toContain("is busy");
  expect(queueHint("cuda", [worker])).toContain("No GPU worker is connected");
  expect(queueHint("cpu", [{ ...worker, state: "gone" }])).toContain("No CPU worker is connected");
});
