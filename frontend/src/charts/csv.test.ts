import { expect, it } from "vitest";
import { csv } from "./csv";

it("quotes special characters and leaves missing values empty", () => {
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

it("escapes names that look like formulas, but not numbers", () => {
  expect(csv(["a", "b", "c"], [["=1+1", -2, "-x"]])).toBe("a,b,c\r\n'=1+1,-2,'-x\r\n");
});

it("writes infinite numbers and NaN like the API", () => {
  expect(csv(["a", "b"], [["-Infinity", "NaN"]])).toBe("a,b\r\n-Infinity,NaN\r\n");
});
