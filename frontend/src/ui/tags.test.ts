import { expect, it } from "vitest";
import { normalizeTags } from "./tags";

it("splits tags at commas and removes duplicates", () => {
  expect(normalizeTags(["alpha,", " beta , gamma", "alpha", ",", ""])).toEqual(["alpha", "beta", "gamma"]);
});
