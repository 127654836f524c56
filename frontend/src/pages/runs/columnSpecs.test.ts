import { describe, expect, it } from "vitest";
import { updateColumn, moveColumn, MIN_WIDTH, parseSpec, toggleColumn, formatSpec } from "./columnSpecs";

describe("a column spec", () => {
  it.each(["state", "env~180", "method!", "metric.train/entropy.last~96!"])("round-trips %s", (text) => {
    expect(formatSpec(parseSpec(text))).toBe(text);
  });

  it("has an id, a width and a pin", () => {
    expect(parseSpec("metric.a/b.last~96!")).toEqual({ id: "metric.a/b.last", width: 96, pinned: true });
    expect(parseSpec("state")).toEqual({ id: "state", width: null, pinned: false });
  });

  it("is never narrower than the minimum", () => {
    expect(parseSpec("state~1").width).toBe(MIN_WIDTH);
    expect(updateColumn(["state"], "state", { width: -5 })).toEqual([`state~${MIN_WIDTH}`]);
  });
});

describe("columns", () => {
  const columns = ["name", "state~180", "env", "tags!"];

  it("are removed and added regardless of their width", () => {
    expect(toggleColumn(columns, "state")).toEqual(["name", "env", "tags!"]);
    expect(toggleColumn(columns, "step")).toEqual([...columns, "step"]);
  });

  it("are changed individually", () => {
    expect(updateColumn(columns, "env", { width: 90.4 })).toEqual(["name", "state~180", "env~90", "tags!"]);
    expect(updateColumn(columns, "state", { width: null })).toEqual(["name", "state", "env", "tags!"]);
    expect(updateColumn(columns, "state", { pinned: true })[1]).toBe("state~180!");
    expect(updateColumn(["env"], "name", { width: 300 })).toEqual(["name~300", "env"]);
  });

  it("take the place and the pin of the column they are dropped on", () => {
    expect(moveColumn(columns, "env", "state")).toEqual(["name", "env", "state~180", "tags!"]);
    expect(moveColumn(columns, "state", "env")).toEqual(["name", "env", "state~180", "tags!"]);
    expect(moveColumn(columns, "state", "tags")).toEqual(["name", "env", "tags!", "state~180!"]);
    expect(moveColumn(columns, "tags", "env")).toEqual(["name", "state~180", "tags", "env"]);
    expect(moveColumn(columns, "gone", "env")).toEqual(columns);
  });
});
