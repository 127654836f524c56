import { expect, it } from "vitest";
import { titleOf } from "./figureTitle";

it("distinguishes percentiles from curves of the same metric", () => {
  const figure = { data: [], layout: { yaxis: { title: { text: "Episode return" } } } };
  expect(titleOf("/api/v1/figures/curves?runs=1", figure)).toBe("Episode return");
  expect(titleOf("/api/v1/figures/percentiles?runs=1", figure)).toBe("Episode return, percentiles");
});
