import { expect, it } from "vitest";
import { browserName, describeChange } from "./words";

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

it.each([
  ["Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0", "Firefox on Linux"],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0",
    "Edge on Windows",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1",
    "Safari on iPhone",
  ],
  ["python-httpx/0.28", "python-httpx/0.28"],
  ["", "Unknown browser"],
])("names %s", (agent, name) => expect(browserName(agent)).toBe(name));
