import { expect, it } from "vitest";
import type { AuditFacets } from "@/api/types";
import { browserName, changesOf, nameOfPerson, nameOfProject, pageOf } from "./words";

const facets: AuditFacets = {
  kinds: [],
  actions: [],
  people: [
    { id: 1, name: "Ana", email: "ana@example.org" },
    { id: 2, name: "Ana", email: null },
    { id: 3, name: "Bo", email: null },
  ],
  projects: [
    { id: 1, name: "Main" },
    { id: 2, name: "" },
  ],
};
const changes = (before: Record<string, unknown> | null, after: Record<string, unknown> | null) =>
  changesOf({ before, after }, facets).map(({ label, before: old, after: fresh }) => [label, old, fresh]);

it("shows the old and the new value of each changed setting", () => {
  expect(changes({ name: "A", pinned_report_id: null }, { name: "B", pinned_report_id: 3 })).toEqual([
    ["name", "A", "B"],
    ["pinned report", "none", "3"],
  ]);
  expect(changes({ project_id: 1, enabled: true }, { project_id: 7, enabled: false })).toEqual([
    ["project", "Main", "Project 7"],
    ["enabled", "yes", "no"],
  ]);
});

it("shows only the values of what was created or deleted", () => {
  expect(changes(null, { scopes: ["read", "log"] })).toEqual([["scopes", null, "read, log"]]);
  expect(changes({ name: "Maze" }, null)).toEqual([["name", "Maze", null]]);
  expect(changes(null, { settings: { cores: 2, memory: "" } })).toEqual([["settings: cores", null, "2"]]);
  expect(changes(null, null)).toEqual([]);
});

it("shows only what differs inside of settings", () => {
  const before = { settings: { cores: 2, memory: "8G" } };
  expect(changes(before, { settings: { cores: 4, memory: "8G" } })).toEqual([["settings: cores", "2", "4"]]);
});

it("leaves out what the action says, and shows times as local times", () => {
  expect(changes({ desired: "run" }, { desired: "stop" })).toEqual([]);
  const [[label, , time] = []] = changes(null, { expires_at: "2027-02-28T08:11:23.053+00:00" });
  expect([label, time]).toEqual(["expires at", expect.stringMatching(/^Feb 2[78], 2027/)]);
});

it("tells people with the same name apart, and names deleted projects", () => {
  expect([1, 2, 3, 9, null].map((id) => nameOfPerson(id, facets))).toEqual([
    "Ana (ana@example.org)",
    "Ana (person 2)",
    "Bo",
    "",
    "",
  ]);
  expect([1, 2, null].map((id) => nameOfProject(id, facets))).toEqual(["Main", "Project 2", "Installation"]);
});

it("links to objects that have a page", () => {
  expect(pageOf({ kind: "run", action: "stop", object_id: "3" })).toBe("/runs/3");
  expect(pageOf({ kind: "run", action: "delete", object_id: "3" })).toBeNull();
  expect(pageOf({ kind: "token", action: "create", object_id: "3" })).toBeNull();
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
