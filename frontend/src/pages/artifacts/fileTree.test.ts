import { describe, expect, it } from "vitest";
import { anEntry } from "@/testing/artifacts";
import { listFolder, parseTable, previewKind } from "./fileTree";

describe("the files of a version", () => {
  const entries = ["a.txt", "data/one.csv", "data/two.csv", "data/deep/three.csv"].map((path) =>
    anEntry(path),
  );

  it("are listed folder by folder", () => {
    const top = listFolder(entries, "");
    expect(top.folders).toEqual([{ name: "data", files: 3, bytes: 60 }]);
    expect(top.entries.map(({ path }) => path)).toEqual(["a.txt"]);
    const data = listFolder(entries, "data");
    expect(data.folders.map(({ name }) => name)).toEqual(["deep"]);
    expect(data.entries.map(({ path }) => path)).toEqual(["data/one.csv", "data/two.csv"]);
    expect(listFolder(entries, "dat")).toEqual({ folders: [], entries: [] });
  });

  it.each([
    ["a/screen.PNG", "picture"],
    ["scores.tsv", "table"],
    ["config.json", "json"],
    ["page.html", "text"],
    ["model.pt", null],
    ["folder.csv/model", null],
    ["Makefile", null],
  ])("are shown by their names: %s", (path, kind) => {
    expect(previewKind(path)).toBe(kind);
  });
});

describe("a table", () => {
  const whole = { isCut: false, most: 100 };

  it("has quoted cells", () => {
    const text = 'name,text\r\na,"x, ""y""\nz"\r\nb,\r\n';
    expect(parseTable(text, "t.csv", whole)).toEqual([
      ["name", "text"],
      ["a", 'x, "y"\nz'],
      ["b", ""],
    ]);
  });

  it("leaves out a cut row and the rows beyond the limit", () => {
    expect(parseTable("a\n1\n2", "t.csv", { isCut: true, most: 100 })).toEqual([["a"], ["1"]]);
    expect(parseTable("a\n1\n2", "t.csv", whole)).toEqual([["a"], ["1"], ["2"]]);
    expect(parseTable("a\tb\n1\t2\n3\t4", "t.tsv", { isCut: false, most: 2 })).toEqual([
      ["a", "b"],
      ["1", "2"],
    ]);
  });
});
