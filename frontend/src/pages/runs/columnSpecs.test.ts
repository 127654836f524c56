import { describe, expect, it } from "vitest";
import { changedColumn, movedColumn, NARROWEST, readSpec, toggledColumn, writeSpec } from "./columnSpecs";

describe("a column as it is kept", () => {
  it.each(["state", "env~180", "method!", "metric.train/entropy.last~96!"])("comes back from %s", (text) => {
    expect(writeSpec(readSpec(text))).toBe(text);
  });

  it("says which it is, how wide, and whether it is pinned", () => {
    expect(readSpec("metric.a/b.last~96!")).toEqual({ id: "metric.a/b.last", width: 96, pinned: true });
    expect(readSpec("state")).toEqual({ id: "state", width: null, pinned: false });
  });

  it("is never too narrow to be widened again", () => {
    expect(readSpec("state~1").width).toBe(NARROWEST);
    expect(changedColumn(["state"], "state", { width: -5 })).toEqual([`state~${NARROWEST}`]);
  });
});

describe("columns", () => {
  const columns = ["name", "state~180", "env", "tags!"];

  it("are taken away and added whatever their width", () => {
    expect(toggledColumn(columns, "state")).toEqual(["name", "env", "tags!"]);
    expect(toggledColumn(columns, "step")).toEqual([...columns, "step"]);
  });

  it("are changed one by one", () => {
    expect(changedColumn(columns, "env", { width: 90.4 })).toEqual(["name", "state~180", "env~90", "tags!"]);
    expect(changedColumn(columns, "state", { width: null })).toEqual(["name", "state", "env", "tags!"]);
    expect(changedColumn(columns, "state", { pinned: true })[1]).toBe("state~180!");
    expect(changedColumn(["env"], "name", { width: 300 })).toEqual(["name~300", "env"]);
  });

  it("take the place of the one they are dropped on, and its pin", () => {
    expect(movedColumn(columns, "env", "state")).toEqual(["name", "env", "state~180", "tags!"]);
    expect(movedColumn(columns, "state", "env")).toEqual(["name", "env", "state~180", "tags!"]);
    expect(movedColumn(columns, "state", "tags")).toEqual(["name", "env", "tags!", "state~180!"]);
    expect(movedColumn(columns, "tags", "env")).toEqual(["name", "state~180", "tags", "env"]);
    expect(movedColumn(columns, "gone", "env")).toEqual(columns);
  });
});
