import { describe, expect, it } from "vitest";
import {
  carryOver,
  draftOf,
  hintOf,
  isChanged,
  overridesOf,
  rangeText,
  read,
  readDraft,
  shown,
  written,
} from "./draft";
import type { FormField } from "./schema";

const blank: FormField = {
  name: "x",
  title: "X",
  help: "",
  group: "Run",
  changeable: "",
  isEssential: false,
  kind: "number",
  optional: false,
  initial: 1,
  choices: [],
  range: {},
  count: {},
};
const envs: FormField = {
  ...blank,
  name: "num_envs",
  kind: "integer",
  initial: 32,
  range: { min: 1, max: 1024 },
};
const rate: FormField = { ...blank, name: "learning_rate", initial: 0.0224, range: { above: 0, max: 10 } };
const env: FormField = { ...blank, name: "env", kind: "choice", initial: "A", choices: ["A", "B"] };
const clip: FormField = { ...blank, name: "clip_rewards", kind: "boolean", initial: true };

it("keeps typed text that fits when the method changes", () => {
  const next = {
    algorithm: "a3c",
    title: "A3C",
    summary: "",
    fields: [envs, env, rate],
    shapeFields: [],
  };
  const written = { algorithm: "paac", num_envs: "1-5", env: "C", learning_rate: "fast", clip_rewards: true };
  const kept = ["algorithm", "num_envs", "env", "learning_rate", "clip_rewards"];
  expect(carryOver(written, kept, next)).toEqual({ num_envs: "1-5", learning_rate: "fast" });
  expect(carryOver(written, ["env"], next)).toEqual({});
});

describe("read", () => {
  it("accepts common number formats", () => {
    expect(read(envs, "1k")).toEqual({ value: 1000 });
    expect(read(rate, "7e-4")).toEqual({ value: 0.0007 });
  });

  it("accepts a decimal comma and rejects an ambiguous comma", () => {
    expect(read(rate, "0,003")).toEqual({ value: 0.003 });
    expect(read(envs, "1,5")).toEqual({ error: "Must be a whole number." });
    expect(read(envs, "1,000")).toEqual({ value: 1000 });
    expect(read(rate, "1,500")).toEqual({
      error: "The comma in 1,500 is ambiguous. Write 1.500 or 1500.",
    });
  });

  it("describes valid input", () => {
    expect(read(envs, "0")).toEqual({ error: "Must be from 1 to 1024." });
    expect(read(envs, "1.5")).toEqual({ error: "Must be a whole number." });
    expect(read(rate, "0")).toEqual({ error: "Must be above 0, at most 10." });
    expect(read(rate, "fast")).toHaveProperty("error", expect.stringContaining("Not a number"));
    expect(read(envs, " ")).toEqual({ error: "Enter a value." });
    expect(read(env, "C")).toEqual({ error: "Not a valid choice." });
  });

  it("reads an empty optional field as no value", () => {
    expect(read({ ...rate, optional: true }, "")).toEqual({ value: null });
  });

  it("includes the ends of a closed range and excludes those of an open one", () => {
    expect(read(envs, "1024")).toEqual({ value: 1024 });
    expect(read({ ...rate, range: { min: 0, below: 1 } }, "1")).toHaveProperty("error");
    expect(read({ ...rate, range: { min: 0, below: 1 } }, "0")).toEqual({ value: 0 });
  });
});

const epsilons: FormField = {
  ...blank,
  name: "final_epsilons",
  kind: "numbers",
  initial: [0.1, 0.01, 0.5],
  range: { min: 0, max: 1 },
  count: { min: 1, max: 3 },
};

describe("a list of numbers", () => {
  it.each(["0.1, 0.01, 0.5", "0.1,1e-2,.5", "0.1 0.01 0.5", "0.1; 0.01; 0.5;", " 0.1 , 0.01,0.5, "])(
    "is read from %j",
    (text) => {
      expect(read(epsilons, text)).toEqual({ value: [0.1, 0.01, 0.5] });
    },
  );

  it("is written in a format that can be read back", () => {
    expect(written(epsilons, [0.1, 1e-5])).toBe("0.1, 1e-5");
    expect(read(epsilons, written(epsilons, [0.1, 1e-5]))).toEqual({ value: [0.1, 1e-5] });
  });

  it.each(["0,1; 0,01; 0,5", "0,1;0,01;0,5;"])("is read from %j with decimal commas", (text) => {
    expect(read(epsilons, text)).toEqual({ value: [0.1, 0.01, 0.5] });
  });

  it.each(["0,1", "0,1 0,01", "0,1,0,01", "0, 0,1"])("is not read from the ambiguous %j", (text) => {
    expect(read(epsilons, text)).toHaveProperty("error", expect.stringContaining("one number or two"));
  });

  it("accepts whole numbers without spaces", () => {
    const sizes = { ...epsilons, range: {}, count: {} };
    expect(read(sizes, "16,32,64")).toEqual({ value: [16, 32, 64] });
  });

  it("names the invalid number", () => {
    expect(read(epsilons, "0.1, 7")).toEqual({ error: "Each must be from 0 to 1, unlike 7." });
    expect(read(epsilons, "0.1, often")).toEqual({ error: "“often” is not a number." });
    expect(read(epsilons, "0.1,, 0.2")).toHaveProperty("error", expect.stringContaining("with commas"));
    expect(read(epsilons, ",")).toHaveProperty("error", expect.stringContaining("with commas"));
  });

  it("states how many numbers are allowed", () => {
    expect(read(epsilons, "0, 0, 0, 0")).toEqual({ error: "Enter 1 to 3 numbers, not 4." });
    expect(read({ ...epsilons, count: { min: 2 } }, "0")).toEqual({
      error: "Enter at least 2 numbers, not 1.",
    });
    expect(hintOf(epsilons)).toBe("1 to 3 numbers, each from 0 to 1");
  });

  it("ignores the spelling of numbers but not their order", () => {
    expect(isChanged(epsilons, "0.10 1e-2 .5", [0.1, 0.01, 0.5])).toBe(false);
    expect(isChanged(epsilons, "0.01, 0.1, 0.5", [0.1, 0.01, 0.5])).toBe(true);
    expect(overridesOf({ a: [1, 2], b: [1] }, { a: [1, 2], b: [1, 2] })).toEqual({ b: [1] });
    expect(shown([0.1, 20_000])).toBe("0.1, 20\u202f000");
  });
});

describe("a draft", () => {
  const fields = [envs, rate, env, clip];

  it("reads back the original configuration", () => {
    const config = { num_envs: 16, learning_rate: 0.00001, env: "B", clip_rewards: false };
    expect(readDraft(draftOf(config, fields), fields)).toEqual({ values: config, errors: {} });
  });

  it("uses defaults for missing fields", () => {
    expect(readDraft(draftOf({}, fields), fields).values).toEqual({
      num_envs: 32,
      learning_rate: 0.0224,
      env: "A",
      clip_rewards: true,
    });
  });

  it("collects all errors by field", () => {
    const { errors } = readDraft({ num_envs: "0", learning_rate: "x", env: "A", clip_rewards: true }, fields);
    expect(Object.keys(errors)).toEqual(["num_envs", "learning_rate"]);
  });

  it("treats another spelling of a value as unchanged", () => {
    expect(isChanged(rate, "2.24e-2", 0.0224)).toBe(false);
    expect(isChanged(rate, "0.03", 0.0224)).toBe(true);
    expect(isChanged(rate, "?", 0.0224)).toBe(true);
  });

  it("sends only values that differ from the original run", () => {
    expect(overridesOf({ a: 1, b: 2, c: null }, { a: 1, b: 3, c: null })).toEqual({ b: 2 });
  });
});

describe("words", () => {
  it("formats ranges", () => {
    expect(rangeText({ min: 1, max: 10_000_000_000 })).toBe("from 1 to 10\u202f000\u202f000\u202f000");
    expect(rangeText({ min: 0, below: 1 })).toBe("at least 0, below 1");
    expect(rangeText({})).toBe("");
  });

  it("formats values for tables", () => {
    expect([true, false, null, 115_000_000, "nips"].map(shown)).toEqual([
      "on",
      "off",
      "none",
      "115\u202f000\u202f000",
      "nips",
    ]);
  });
});
