import { describe, expect, it } from "vitest";
import { automaticColumns, automaticSettings, withAutomatic, withoutAutomatic } from "./automaticColumns";

const setting = (field: string, distinct: number, runs = 9) => ({ field, distinct, runs });
const groupOf = (field: string) => (field === "total_steps" || field === "seed" ? "Run" : "Optimization");

describe("the settings shown by default", () => {
  it("differ, start with the seed and the learning rate, and are at most four", () => {
    const fields = ["total_steps", "gamma", "t_max", "learning_rate", "lstm_units", "seed", "mode"];
    const settings = [...fields.map((field) => setting(field, 2)), setting("momentum", 1)];
    expect(automaticSettings(settings, groupOf)).toEqual(["seed", "learning_rate", "gamma", "t_max"]);
  });

  it("are first those that all runs have", () => {
    const settings = [setting("learning_rate", 3, 2), setting("t_max", 2)];
    expect(automaticSettings(settings, groupOf)).toEqual(["t_max", "learning_rate"]);
  });
});

describe("automatic columns", () => {
  const chosen = ["name", "state", "differing", "tags"];
  const automatic = ["config.seed", "config.gamma", "config.t_max"];
  const all = withAutomatic(chosen, automatic);
  const without = (...gone: string[]) => all.filter((text) => !gone.includes(text));

  it("are in their place, without columns that are chosen or hidden", () => {
    expect(
      automaticColumns([...chosen, "config.gamma~90!", "-config.t_max"], ["seed", "gamma", "t_max"]),
    ).toEqual(["config.seed"]);
    expect(automaticColumns(["name"], ["seed"])).toEqual([]);
    expect(all).toEqual(["name", "state", ...automatic, "differing", "tags"]);
  });

  it("stay automatic while other columns change", () => {
    expect(withoutAutomatic(all, automatic)).toEqual(chosen);
    expect(withoutAutomatic([...all, "step"], automatic)).toEqual([...chosen, "step"]);
    expect(withoutAutomatic(without("state"), automatic)).toEqual(["name", "differing", "tags"]);
  });

  it("stay hidden once hidden, until they are chosen again", () => {
    const hidden = withoutAutomatic(without("config.gamma"), automatic);
    expect(hidden).toEqual([...chosen, "-config.gamma"]);
    expect(withoutAutomatic([...hidden, "config.gamma"], [])).toEqual([...chosen, "config.gamma"]);
  });

  it("become chosen if they are moved or resized", () => {
    const resized = all.map((text) => (text === "config.seed" ? "config.seed~200" : text));
    expect(withoutAutomatic(resized, automatic)).toEqual([
      "name",
      "state",
      "config.seed~200",
      "differing",
      "tags",
    ]);
    const swapped = ["name", "state", "config.gamma", "config.seed", "config.t_max", "differing", "tags"];
    expect(withoutAutomatic(swapped, automatic)).toEqual([
      "name",
      "state",
      "config.gamma",
      "config.seed",
      "differing",
      "tags",
    ]);
  });

  it("disappear without their place", () => {
    expect(withoutAutomatic(without("differing"), automatic)).toEqual(["name", "state", "tags"]);
  });
});
