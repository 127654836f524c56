import { describe, expect, it } from "vitest";
import { axisOf, draftOf, EMPTY, isDrawn, specificationOf } from "./draft";

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
    expect([isDrawn(listed), isDrawn(drawn)]).toEqual([false, true]);
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
});
