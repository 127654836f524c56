import { expect, it } from "vitest";
import type { LogLine } from "@/api/types";
import { followed, lineText, merged } from "./logLines";

const line = (id: number): LogLine => ({
  id,
  time: "2026-01-02T03:04:05Z",
  attempt: 2,
  level: "info",
  message: `m${id}`,
});
const ids = (lines: LogLine[]) => lines.map(({ id }) => id);

it("adds newer lines at the end and older ones at the beginning", () => {
  expect(ids(merged([line(5), line(6)], [line(7), line(8)]))).toEqual([5, 6, 7, 8]);
  expect(ids(merged([line(5), line(6)], [line(1), line(3)]))).toEqual([1, 3, 5, 6]);
  expect(ids(merged([], [line(1), line(2)]))).toEqual([1, 2]);
});

it("takes a repeated line once", () => {
  expect(ids(merged([line(5), line(6)], [line(5), line(6), line(7)]))).toEqual([5, 6, 7]);
});

it("gives the oldest up beyond as many as are held", () => {
  expect(ids(followed([line(1), line(2)], [line(3), line(4)], 3))).toEqual([2, 3, 4]);
  expect(ids(followed([line(1)], [line(2)], 3))).toEqual([1, 2]);
});

it("writes a line for a file", () => {
  expect(lineText(line(1))).toBe("2026-01-02T03:04:05Z [attempt 2] INFO m1\n");
});
