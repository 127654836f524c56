import { describe, expect, it } from "vitest";
import { fittedWidth } from "./fit";

const ATARI = 160 / 210;

describe("the size of a live picture", () => {
  it("is the largest whole multiple of its pixels that fits", () => {
    expect(fittedWidth({ width: 1000, height: 700 }, ATARI, 160, 1)).toBe(480);
    expect(fittedWidth({ width: 400, height: 2000 }, ATARI, 160, 1)).toBe(320);
  });

  it("counts the pixels of the screen, which may be finer", () => {
    expect(fittedWidth({ width: 1000, height: 740 }, ATARI, 160, 2)).toBe(560);
  });

  it("fills the box where pixels need not stay whole, or the box is smaller than the picture", () => {
    expect(fittedWidth({ width: 900, height: 400 }, 1.5, null, 1)).toBe(600);
    expect(fittedWidth({ width: 100, height: 400 }, ATARI, 160, 1)).toBe(100);
  });
});
