import { expect, it } from "vitest";
import { csv } from "./csv";

it("quotes what would break a row and leaves missing values empty", () => {
  expect(
    csv(
      ["run", "value"],
      [
        ['a "b", c', null],
        ["two\nlines", 1.5],
      ],
    ),
  ).toBe('run,value\r\n"a ""b"", c",\r\n"two\nlines",1.5\r\n');
});

it("keeps a run's name from being a formula, and numbers from being text", () => {
  expect(csv(["a", "b", "c"], [["=1+1", -2, "-x"]])).toBe("a,b,c\r\n'=1+1,-2,'-x\r\n");
});

it("writes an infinite number as the API spells it", () => {
  expect(csv(["a", "b"], [["-Infinity", "NaN"]])).toBe("a,b\r\n-Infinity,NaN\r\n");
});
