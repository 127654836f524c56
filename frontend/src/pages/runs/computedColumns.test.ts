import { expect, it } from "vitest";
import { computedId, computedInColumns, computedName, parseComputed } from "./computedColumns";

it("has a title and an expression in its id", () => {
  const column = { title: "Return per hour", expression: 'best_return / max(hours, last("a=b"))' };
  expect(parseComputed(computedId(column))).toEqual(column);
  expect(parseComputed("compute.=return + 1")).toEqual({ title: "", expression: "return + 1" });
  expect(parseComputed("config.compute")).toBeNull();
  expect(parseComputed("compute.return")).toBeNull();
});

it("has a name that depends only on its expression", () => {
  expect(computedName("return + 1")).toMatch(/^c_[0-9a-z]+$/);
  expect(computedName("return + 1")).not.toBe(computedName("return + 2"));
});

it("is requested once if it has two widths", () => {
  const columns = ["name", "compute.A=return + 1~90!", "compute.B=return + 1", "config.seed"];
  expect(computedInColumns(columns)).toEqual([`${computedName("return + 1")} = return + 1`]);
});
