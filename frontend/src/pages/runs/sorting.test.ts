import { describe, expect, it } from "vitest";
import { addSort, MAX_SORT_KEYS, nextSort, sortPlace, splitSort } from "./sorting";

it("sorts descending, then ascending, then newest first again", () => {
  expect(nextSort("-created_at", "step")).toBe("-step");
  expect(nextSort("-step", "step")).toBe("step");
  expect(nextSort("step", "step")).toBe("-created_at");
  expect(nextSort("-step,name", "name")).toBe("-name");
});

it("splits at commas outside of quotes and parentheses", () => {
  expect(splitSort('-max(step, 3),last("a,b"),name')).toEqual(["-max(step, 3)", 'last("a,b")', "name"]);
});

describe("a further key", () => {
  it("is added descending, then ascending, then removed", () => {
    expect(addSort("name", "step")).toBe("name,-step");
    expect(addSort("name,-step", "step")).toBe("name,step");
    expect(addSort("name,step", "step")).toBe("name");
    expect(addSort("step", "step")).toBe("-created_at");
  });

  it("replaces the default order, which leaves nothing to sort", () => {
    expect(addSort("-created_at", "step")).toBe("-step");
    expect(addSort("-created_at", "created_at")).toBe("created_at");
  });

  it("is not added to as many as the server takes", () => {
    const full = Array.from({ length: MAX_SORT_KEYS }, (_, at) => `config:field_${at}`).join();
    expect(addSort(full, "step")).toBe(full);
  });
});

it("says the direction of a column and its place among several", () => {
  expect(sortPlace("-step", "step")).toEqual({ direction: "descending", rank: 0 });
  expect(sortPlace("name,-step", "step")).toEqual({ direction: "descending", rank: 2 });
  expect(sortPlace("name,-step", "frames")).toEqual({ direction: "none", rank: 0 });
  expect(sortPlace("name", undefined)).toEqual({ direction: "none", rank: 0 });
});
