import { describe, expect, it } from "vitest";
import type { Environment, Run } from "@/api/types";
import { anEnvironment, ATARI } from "@/testing/environments";
import { aPreset } from "@/testing/presets";
import { foundPresets } from "./PresetCards";
import { keyOf } from "@/config-form/reference";
import type { Variant } from "@/config-form/schema";
import { referenceFor, startingPoint, startingPointIn } from "./startingPoint";

const presets = [
  aPreset(
    "cartpole",
    { algorithm: "paac", env: "CartPole-v1", n: 16, lr: 0.003, t: 1 },
    { title: "The pole" },
  ),
  aPreset("pong", { algorithm: "paac", env: "Pong", n: 32, lr: 0.0224, t: 5 }, { title: "The pong" }),
  aPreset("a3c-pong", { algorithm: "a3c", env: "Pong", n: 16, lr: 0.0007, t: 5 }, { method: "A3C" }),
  aPreset("a3c-catch", { algorithm: "a3c", env: "Catch", n: 2, lr: 0.001 }, { method: "A3C" }),
];
const environment = (id: string, changes: Partial<Environment> = {}): Environment =>
  anEnvironment(id, { algorithms: ["paac", "a3c", "n_step_q"], ...changes });
const known = [
  environment("CartPole-v1"),
  environment("Catch"),
  environment("Pong", { group: "Atari", family: ATARI, frames_per_step: 4 }),
  environment("Pendulum-v1", { algorithms: ["a3c"] }),
];
const variant = (algorithm: string): Variant => ({
  algorithm,
  title: algorithm.toUpperCase(),
  summary: "",
  shapeFields: [],
  fields: [{ name: "algorithm", initial: algorithm } as Variant["fields"][number]],
});
const variants = ["paac", "a3c", "dqn"].map(variant);
const start = (preset: string | null, method: string | null = null, like?: Run) =>
  startingPoint(presets, variants, { preset, method }, like);

describe("the form starts", () => {
  it("with the named preset, or the first preset", () => {
    expect(start("pong")).toMatchObject({ reference: { preset: "pong" }, values: { n: 32 } });
    expect(start("gone").reference.preset).toBe("cartpole");
  });

  it("with a method's defaults if no preset is named", () => {
    expect(start(null, "dqn")).toEqual({
      key: "method dqn",
      values: { algorithm: "dqn" },
      reference: { title: "the defaults of DQN", values: { algorithm: "dqn" }, preset: null },
    });
  });

  it("with another run's configuration, which changes are compared with", () => {
    const config = { algorithm: "paac", env: "Pong", n: 16, lr: 0.0007, t: 5 };
    const run = { id: 12, algorithm: "paac", config } as unknown as Run;
    expect(start("cartpole", null, run)).toMatchObject({
      key: "run 12",
      values: config,
      reference: { preset: null, title: "run 12", values: config },
    });
  });
});

describe("another method starts", () => {
  const chosen = (algorithm: string, env: string) =>
    referenceFor(variant(algorithm), presets, known, env).preset;

  it("with its preset for the chosen game", () => {
    expect(chosen("a3c", "Catch")).toBe("a3c-catch");
    expect(chosen("a3c", "Pong")).toBe("a3c-pong");
  });

  it("else with a preset for a game of the same kind", () => {
    expect(chosen("a3c", "Pendulum-v1")).toBe("a3c-catch");
    expect(chosen("a3c", "Elsewhere")).toBe("a3c-pong");
  });

  it("else with its defaults, under the same key as the page's URL", () => {
    const defaults = referenceFor(variant("dqn"), presets, known, "Pong");
    expect(defaults.preset).toBeNull();
    expect(keyOf(defaults)).toBe(start(null, "dqn").key);
  });
});

const NEAR = { env: "Pong", isLike: (env: string) => env !== "Catch" };

describe("presets", () => {
  const found = (text: string, env = "Pong") =>
    foundPresets(presets, text, "paac", (id) => `The ${id}`, { ...NEAR, env }).map(({ method, members }) => [
      method,
      members.map(({ name }) => name),
    ]);

  it("are those of the method for the environment without a search, or else for similar ones", () => {
    expect(found(" ")).toEqual([["PAAC", ["pong"]]]);
    expect(found(" ", "Breakout")).toEqual([["PAAC", ["cartpole", "pong"]]]);
  });

  it("are found by words of their name, title, game and method", () => {
    expect(found("pong")).toEqual([
      ["PAAC", ["pong"]],
      ["A3C", ["a3c-pong"]],
    ]);
    expect(found("PONG a3c")).toEqual([["A3C", ["a3c-pong"]]]);
    expect(found("chess")).toEqual([]);
  });
});

describe("a form that starts with a game", () => {
  const begun = (env: string) => startingPointIn(env, presets, known);

  it("uses the game's own preset", () => {
    expect(begun("Pong")?.reference.preset).toBe("pong");
    expect(begun("Pong")?.values["env"]).toBe("Pong");
  });

  it("uses the preset of a game of the same kind, with the game replaced", () => {
    const start = startingPointIn("Breakout", presets, [
      ...known,
      environment("Breakout", { group: "Atari", family: ATARI, frames_per_step: 4 }),
    ]);
    expect(start?.reference.preset).toBe("pong");
    expect(start?.values).toMatchObject({ env: "Breakout", n: 32 });
    expect(start?.key).not.toBe(begun("Pong")?.key);
  });

  it("uses no preset for an unknown game", () => {
    expect(begun("Nothing")).toBeNull();
  });
});
