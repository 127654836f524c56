import { expect, it } from "vitest";
import { joinNames, splitNames } from "./nameList";

it.each([[["a"]], [["train/loss", "b"]], [["loss, mean", 'a "quoted" name', "c"]], [[]]])(
  "reads the names that it wrote",
  (names) => {
    expect(splitNames(joinNames(names))).toEqual(names);
  },
);

it("quotes only names that need it, and leaves out empty ones", () => {
  expect(joinNames(["a/b", "c, d", 'e"'])).toBe('a/b,"c, d","e"""');
  expect(splitNames(",a,,b,")).toEqual(["a", "b"]);
});
