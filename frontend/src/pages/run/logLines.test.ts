import { expect, it } from "vitest";
import type { LogLine } from "@/api/types";
import { appendLines, formatLine, mergeLines } from "./logLines";

const line = (id: number): LogLine => ({
  id,
  time: "2026-01-02T03:04:05Z",
  attempt: 2,
  level: "info",
  message: `m${id}`,
});
const ids = (lines: LogLine[]) => lines.map(({ id }) => id);

it("adds newer lines at the end and older lines at the start", () => {
  expect(ids(mergeLines([line(5), line(6)], [line(7), line(8)]))).toEqual([5, 6, 7, 8]);
  expect(ids(mergeLines([line(5), line(6)], [line(1), line(3)]))).toEqual([1, 3, 5, 6]);
  expect(ids(mergeLines([], [line(1), line(2)]))).toEqual([1, 2]);
});

it("drops duplicates", () => {
  expect(ids(mergeLines([line(5), line(6)], [line(5), line(6), line(7)]))).toEqual([5, 6, 7]);
});

it("drops the oldest lines beyond the limit", () => {
  expect(ids(appendLines([line(1), line(2)], [line(3), line(4)], 3))).toEqual([2, 3, 4]);
  expect(ids(appendLines([line(1)], [line(2)], 3))).toEqual([1, 2]);
});

it("formats a line for a file", () => {
  expect(formatLine(line(1))).toBe("2026-01-02T03:04:05Z [attempt 2] INFO m1\n");
});
