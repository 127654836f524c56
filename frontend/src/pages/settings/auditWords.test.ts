import { expect, it } from "vitest";
import { describeChange } from "./auditWords";

it("shows the old and the new value of each changed setting", () => {
  const changed = { before: { name: "A", archived_at: null }, after: { name: "B", archived_at: "2026" } };
  expect(describeChange(changed)).toEqual(["name: A → B", "archived at: none → 2026"]);
});

it("shows only the values of what was created or deleted", () => {
  expect(describeChange({ before: null, after: { scopes: ["read"] } })).toEqual(['scopes: ["read"]']);
  expect(describeChange({ before: { name: "Maze" }, after: null })).toEqual(["name: Maze"]);
  expect(describeChange({ before: null, after: null })).toEqual([]);
});

it("shortens long texts", () => {
  const [line] = describeChange({ before: null, after: { notes: "a".repeat(200) } });
  expect(line).toBe(`notes: ${"a".repeat(80)}…`);
});
