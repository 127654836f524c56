import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { ESLint } from "eslint";
import ts from "typescript";
import tseslint from "typescript-eslint";
import { describe, expect, it } from "vitest";

// Disable the rules that need types. They would take seconds to load and do not check imports.
const eslint = new ESLint({
  cwd: dirname(import.meta.dirname),
  overrideConfig: [tseslint.configs.disableTypeChecked],
});

async function objections(file: string, code: string): Promise<string[]> {
  const [result] = await eslint.lintText(code, { filePath: `src/${file}` });
  return (result?.messages ?? [])
    .filter(({ ruleId }) => ruleId === "no-restricted-imports" || ruleId === "no-restricted-syntax")
    .map(({ message }) => message);
}

describe("npm run lint refuses", () => {
  it.each([
    ["a page that imports another page", "pages/run/Made.tsx", 'import { view } from "@/pages/runs/view";'],
    ["a page's type of another page", "pages/run/Made.tsx", 'import type { V } from "@/pages/runs/view";'],
    ["another page by a relative path", "pages/run/Made.tsx", 'import { view } from "../runs/view";'],
    [
      "another page loaded later",
      "pages/run/Made.tsx",
      'export const later = () => import("@/pages/runs/view");',
    ],
    ["a page's test that imports another page", "pages/run/Made.test.tsx", 'import "@/pages/runs/view";'],
    ["a page that imports the app", "pages/run/Made.tsx", 'import { Shell } from "@/app/Shell";'],
    ["a chart that imports a page", "charts/Made.tsx", 'import { view } from "@/pages/runs/view";'],
    ["a chart that imports the form", "charts/made.ts", 'import { shown } from "@/config-form/draft";'],
    ["the form that imports run actions", "config-form/made.ts", 'import "@/run-actions/words";'],
    ["an element that imports a chart", "ui/made.ts", 'import { csv } from "@/charts/csv";'],
    ["the API that imports an element", "api/live/made.ts", 'import { short } from "@/ui/format";'],
    ["the API that leaves its room", "api/live/made.ts", 'import { short } from "../../ui/format";'],
    ["a page that imports what tests are made of", "pages/run/Made.tsx", 'import "@/testing/runs";'],
  ])("%s", async (_, file, code) => {
    expect(await objections(file, code)).toHaveLength(1);
  });
});

describe("npm run lint accepts", () => {
  it.each([
    ["the app's pages", "app/made.ts", 'export const later = () => import("@/pages/runs/RunsPage");'],
    ["a page that imports the replay player", "pages/run/Made.tsx", 'import "@/replays/Microscope";'],
    ["a page's own modules", "pages/run/Made.tsx", 'import { made } from "./made";'],
    [
      "everything below a page",
      "pages/run/Made.tsx",
      'import "@/charts/csv"; import "@/ui/format"; import "@/api/client";',
    ],
    ["a room's own folder above", "api/live/made.ts", 'import { call } from "../client";'],
    ["what a test is made of", "pages/run/Made.test.tsx", 'import { aRun } from "@/testing/runs";'],
  ])("%s", async (_, file, code) => {
    expect(await objections(file, code)).toEqual([]);
  });
});

const SRC = import.meta.dirname;
const MAX_LINES = 450;
const GENERATED = "api/schema.ts";

const sources = new Map(
  readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file) && file !== GENERATED)
    .map((file) => [file, readFileSync(join(SRC, file), "utf8")]),
);

/** Return the modules of src that a module imports, also as types or later. */
function importsOf(file: string): string[] {
  return ts.preProcessFile(sources.get(file) ?? "").importedFiles.flatMap(({ fileName }) => {
    const path = fileName.startsWith("@/") ? fileName.slice(2) : join(dirname(file), fileName);
    return [`${normalize(path)}.ts`, `${normalize(path)}.tsx`].filter((name) => sources.has(name));
  });
}

/** Return the first cycle of imports, or undefined. */
function findCycle(): string[] | undefined {
  const done = new Set<string>();
  function visit(file: string, path: readonly string[]): string[] | undefined {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    for (const imported of importsOf(file)) {
      const cycle = visit(imported, [...path, file]);
      if (cycle) return cycle;
    }
    done.add(file);
    return undefined;
  }
  for (const file of sources.keys()) {
    const cycle = visit(file, []);
    if (cycle) return cycle;
  }
  return undefined;
}

describe("the modules of src", () => {
  it("do not import each other in a cycle", () => {
    expect(importsOf("api/live/LiveProvider.tsx")).toContain("api/live/LiveDocuments.ts");
    expect(findCycle()).toBeUndefined();
  });

  it(`have at most ${MAX_LINES} lines`, () => {
    const long = [...sources].filter(
      ([file, text]) => !file.includes(".test.") && text.split("\n").length - 1 > MAX_LINES,
    );
    expect(long.map(([file]) => file)).toEqual([]);
  });
});
