import { describe, expect, it } from "vitest";
import {
  defaultsOf,
  type JsonSchema,
  sectionsOf,
  shortHelp,
  splitEssential,
  variantFor,
  variantsOf,
} from "./schema";

const paac: JsonSchema = {
  type: "object",
  title: "PAAC",
  description: "PAAC (Clemente et al. 2017).",
  summary: "Parallel advantage actor-critic",
  paper: "Clemente et al. 2017",
  properties: {
    algorithm: { const: "paac", default: "paac", type: "string", group: "Run" },
    env: {
      enum: ["CartPole-v1", "ALE/Pong-v5"],
      default: "ALE/Pong-v5",
      type: "string",
      group: "Run",
      title: "Game",
      essential: true,
    },
    num_envs: { type: "integer", default: 32, minimum: 1, maximum: 1024, group: "Rollout", essential: true },
    learning_rate: {
      type: "number",
      default: 0.0224,
      exclusiveMinimum: 0,
      maximum: 10,
      group: "Optimization",
      essential: true,
    },
    clip_rewards: { type: "boolean", default: true, group: "Run" },
  },
};
const a3c: JsonSchema = {
  type: "object",
  title: "A3C",
  properties: {
    algorithm: { const: "a3c", default: "a3c" },
    num_envs: { type: "integer", default: 4 },
    network: { $ref: "#/$defs/Network", default: "lstm", description: "Beside the reference." },
    limit: { anyOf: [{ type: "number", minimum: 0 }, { type: "null" }], default: null },
    epsilons: {
      type: "array",
      items: { type: "number", minimum: 0, maximum: 1 },
      minItems: 1,
      maxItems: 16,
      default: [0.1, 0.5],
    },
  },
  shape_fields: ["algorithm", "network"],
};
const union: JsonSchema = {
  oneOf: [{ $ref: "#/$defs/Paac" }, { $ref: "#/$defs/A3c" }],
  $defs: { Paac: paac, A3c: a3c, Network: { enum: ["nips", "lstm"], type: "string", title: "Network" } },
};

const field = (schema: JsonSchema, variant: number, name: string) =>
  variantsOf(schema)[variant]?.fields.find((candidate) => candidate.name === name);

describe("variantsOf", () => {
  it("reads a single object as the only algorithm", () => {
    expect(variantsOf(paac).map(({ algorithm, title }) => [algorithm, title])).toEqual([["paac", "PAAC"]]);
  });

  it("says what a method is, and its paper", () => {
    const described = { ...a3c, description: "A method of a plug-in." };
    expect(variantsOf({ ...union, oneOf: [paac, described] }).map(({ summary }) => summary)).toEqual([
      "Parallel advantage actor-critic. Clemente et al. 2017",
      "A method of a plug-in.",
    ]);
  });

  it("reads all branches of a union and follows references", () => {
    expect(variantsOf(union).map((variant) => variant.algorithm)).toEqual(["paac", "a3c"]);
  });

  it("keeps properties next to a reference", () => {
    expect(field(union, 1, "network")).toMatchObject({
      kind: "choice",
      choices: ["nips", "lstm"],
      title: "Network",
      help: "Beside the reference.",
      initial: "lstm",
    });
  });

  it("reads an optional field", () => {
    expect(field(union, 1, "limit")).toMatchObject({
      kind: "number",
      optional: true,
      initial: null,
      range: { min: 0 },
    });
  });

  it("reads kinds, open ranges and closed ranges", () => {
    expect(field(paac, 0, "num_envs")).toMatchObject({ kind: "integer", range: { min: 1, max: 1024 } });
    expect(field(paac, 0, "learning_rate")).toMatchObject({ kind: "number", range: { above: 0, max: 10 } });
    expect(field(paac, 0, "clip_rewards")).toMatchObject({ kind: "boolean", initial: true });
  });

  it("reads a list of numbers with the range of each and the allowed count", () => {
    expect(field(union, 1, "epsilons")).toMatchObject({
      kind: "numbers",
      initial: [0.1, 0.5],
      range: { min: 0, max: 1 },
      count: { min: 1, max: 16 },
    });
  });

  it("knows which fields a fork cannot change", () => {
    expect(variantsOf(union).map(({ shapeFields }) => shapeFields)).toEqual([[], ["algorithm", "network"]]);
  });

  it("names a broken reference", () => {
    expect(() => variantsOf({ oneOf: [{ $ref: "#/$defs/Lost" }] })).toThrow("#/$defs/Lost");
  });
});

describe("the form", () => {
  const [only] = variantsOf(paac);
  const fields = only?.fields ?? [];

  it("groups fields in the order of the schema", () => {
    expect(
      sectionsOf(fields).map(([group, members]) => [group, members.map((member) => member.name)]),
    ).toEqual([
      ["Run", ["algorithm", "env", "clip_rewards"]],
      ["Rollout", ["num_envs"]],
      ["Optimization", ["learning_rate"]],
    ]);
  });

  it("puts the essential fields first and has no field for the algorithm", () => {
    const { essential, others } = splitEssential(fields);
    expect(essential.map((member) => member.name)).toEqual(["env", "num_envs", "learning_rate"]);
    expect(others.map((member) => member.name)).toEqual(["clip_rewards"]);
  });

  it.each([
    [
      "α: learning rate at the first step; the paper uses 0.0007 · n_e.",
      "α: learning rate at the first step",
    ],
    ["Saved and recorded. The first solve is saved immediately.", "Saved and recorded"],
    ["Sample by error (Schaul et al. 2016).", "Sample by error (Schaul et al. 2016)"],
    ["", ""],
  ])("shortens %j to its first clause", (help, short) => {
    expect(shortHelp(help)).toBe(short);
  });

  it("falls back to the first algorithm when a configuration names an unknown one", () => {
    expect(variantFor(variantsOf(union), "dqn")?.algorithm).toBe("paac");
  });

  it("starts from the defaults", () => {
    expect(only && defaultsOf(only)).toEqual({
      algorithm: "paac",
      env: "ALE/Pong-v5",
      num_envs: 32,
      learning_rate: 0.0224,
      clip_rewards: true,
    });
  });
});
