import { describe, expect, it } from "vitest";
import { axesProblem, axisOf, draftOf, EMPTY, samplerOf, samplersOf, specificationOf } from "./draft";

describe("the draft of a study", () => {
  it("reads values as numbers where they are numbers, and ranges by their names", () => {
    expect(axisOf({ field: "learning_rate", values: "1e-4, 3e-4,1e-3" })).toEqual({
      field: "learning_rate",
      values: [1e-4, 3e-4, 1e-3],
    });
    expect(axisOf({ field: "preset", values: "paac-cartpole, a3c-cartpole" }).values).toEqual([
      "paac-cartpole",
      "a3c-cartpole",
    ]);
    expect(axisOf({ field: "dueling", values: "true, false" }).values).toEqual([true, false]);
    expect(axisOf({ field: "learning_rate", values: " log(1e-4, 1e-2) " })).toEqual({
      field: "learning_rate",
      log_uniform: [1e-4, 1e-2],
    });
    expect(axisOf({ field: "gamma", values: "uniform(0.9, 0.99)" })).toEqual({
      field: "gamma",
      uniform: [0.9, 0.99],
    });
  });

  it("is a grid unless a range is to be drawn from", () => {
    const listed = { ...EMPTY, name: "x", axes: [{ field: "gamma", values: "0.9, 0.99" }] };
    expect(specificationOf(listed, {})).toMatchObject({
      sampler: "grid",
      points: null,
      preset: "paac-cartpole",
    });
    const drawn = { ...listed, axes: [{ field: "gamma", values: "uniform(0.9, 0.99)" }], points: "7" };
    expect([samplerOf(listed), samplerOf(drawn)]).toEqual(["grid", "tpe"]);
    expect(specificationOf(drawn, {})).toMatchObject({ sampler: "tpe", points: 7 });
  });

  it("names no preset where an axis does, and leaves empty axes out", () => {
    const axes = [
      { field: "preset", values: "paac-cartpole, a3c-cartpole" },
      { field: "gamma", values: " " },
    ];
    const sent = specificationOf({ ...EMPTY, axes, totalSteps: "100 000" }, {});
    expect([sent.preset, sent.axes?.length, sent.total_steps]).toEqual([null, 1, 100_000]);
  });

  it("sends what is no number as it is written, for the server to refuse", () => {
    const wrong = { ...EMPTY, totalSteps: "a million", points: "∞", atOnce: "-", axes: [] };
    const axes = [{ field: "gamma", values: "uniform(0.9, one)" }];
    expect(specificationOf({ ...wrong, axes }, {})).toMatchObject({
      total_steps: "a million",
      points: "∞",
      at_once: "-",
      axes: [{ field: "gamma", uniform: [0.9, "one"] }],
    });
    expect(axisOf({ field: "gamma", values: "0.9, Infinity" }).values).toEqual([0.9, "Infinity"]);
  });

  it("has fields move together", () => {
    const axis = {
      field: ["t_max", "num_envs", "preset"],
      values: [
        [5, 2, "a"],
        [20, 8, "b"],
      ],
    };
    const written = { field: "t_max, num_envs, preset", values: "(5, 2, a), (20, 8, b)" };
    expect(axisOf(written)).toEqual(axis);
    expect(draftOf({ name: "x", axes: [axis] }).axes).toEqual([written]);
    expect(specificationOf({ ...EMPTY, axes: [written] }, { axes: [axis] })).toMatchObject({
      axes: [axis],
      preset: null,
    });
    // What is written wrongly is for the server to tell.
    expect(axisOf({ field: "t_max, num_envs", values: "5, 2" }).values).toEqual([5, 2]);
  });

  it.each(["random", "tpe"] as const)("clones a %s study of listed values as what it is", (sampler) => {
    const axes = [{ field: "gamma", values: [0.9, 0.99] }];
    const asked = { name: "Some of many", preset: "paac-cartpole", axes, seeds: [1], sampler, points: 20 };
    const draft = draftOf(asked);
    expect(specificationOf(draft, asked)).toMatchObject({ sampler, points: 20 });
    // It may become a grid, unless it gets a range.
    expect(specificationOf({ ...draft, sampler: "grid" }, asked)).toMatchObject({
      sampler: "grid",
      points: null,
    });
    const ranged = { ...draft, axes: [{ field: "gamma", values: "uniform(0.9, 0.99)" }] };
    expect(samplersOf(ranged)).toEqual(["tpe", "random"]);
    expect(samplerOf(ranged)).toBe(sampler);
  });

  it("clones a study with what the form cannot say", () => {
    const layers = { field: "hidden_sizes", values: [[64], [128, 64]] };
    const asked = {
      name: "Which?",
      preset: "paac-cartpole",
      changes: { t_max: 7 },
      axes: [layers, { field: "learning_rate", log_uniform: [1e-4, 1e-2] as [number, number] }],
      seeds: [1, 2, 5],
      sampler: "random" as const,
      points: 9,
    };
    const draft = draftOf(asked);
    expect(draft).toMatchObject({ seeds: "1, 2, 5", points: "9" });
    expect(draft.axes).toEqual([{ field: "learning_rate", values: "log(0.0001, 0.01)" }]);
    expect(specificationOf(draft, asked)).toMatchObject({ ...asked, seeds: "1, 2, 5" });
  });

  it("understands a decimal comma, and sends what could be two numbers as it is written", () => {
    const sent = specificationOf({ ...EMPTY, totalSteps: "1,5e6", atOnce: "2,5", seeds: "1, 2" }, {});
    expect(sent).toMatchObject({ total_steps: 1_500_000, at_once: 2.5, seeds: "1, 2" });
    expect(specificationOf({ ...EMPTY, totalSteps: "10,000" }, {})).toMatchObject({ total_steps: 10_000 });
    expect(specificationOf({ ...EMPTY, totalSteps: "2M" }, {})).toMatchObject({ total_steps: 2_000_000 });
    expect(specificationOf({ ...EMPTY, totalSteps: "1,500k" }, {})).toMatchObject({ total_steps: "1,500k" });
  });

  it.each([
    ["0,01", true],
    ["0,01, 0,02", true],
    ["5,20", true],
    ["5, 20", false],
    ["0.9,0.99", false],
    ["1e-4,3e-4", false],
    ["(5, 2), (20, 8)", false],
    ["log(1e-4, 1e-2)", false],
    ["uniform(0, 1)", false],
  ])("asks what is meant by an axis %s: %s", (values, asks) => {
    const axes = [{ field: "gamma", values }];
    expect(axesProblem({ ...EMPTY, axes }) !== null).toBe(asks);
  });
});
