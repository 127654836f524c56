import { expect, it } from "vitest";
import { tidyTags } from "./tags";

it("ends a tag at a comma, and keeps each once", () => {
  expect(tidyTags(["alpha,", " beta , gamma", "alpha", ",", ""])).toEqual(["alpha", "beta", "gamma"]);
});
