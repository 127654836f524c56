import { expect, it } from "vitest";
import { describeChange } from "./auditWords";

it("shows the old and the new value of each changed setting", () => {
  const changed = {
    before: { name: "A", pinned_report_id: null },
    after: { name: "B", pinned_report_id: 3 },
  };
  expect(describeChange(changed)).toEqual(["name: A → B", "pinned report id: none → 3"]);
});

it("shows only the values of what was created or deleted", () => {
  expect(describeChange({ before: null, after: { scopes: ["read"] } })).toEqual(["scopes: read"]);
  expect(describeChange({ before: { name: "Maze" }, after: null })).toEqual(["name: Maze"]);
  expect(describeChange({ before: null, after: null })).toEqual([]);
});

it("leaves out what the action says, and shows times as local times", () => {
  expect(describeChange({ before: { desired: "run" }, after: { desired: "stop" } })).toEqual([]);
  const [line] = describeChange({ before: null, after: { expires_at: "2027-02-28T08:11:23.053+00:00" } });
  expect(line).toMatch(/^expires at: Feb 2[78], 2027/);
});

it("shortens long texts", () => {
  const [line] = describeChange({ before: null, after: { notes: "a".repeat(200) } });
  expect(line).toBe(`notes: ${"a".repeat(80)}…`);
});
