import { describe, expect, it } from "vitest";
import { fittedWidth } from "./fit";

const ATARI = 160 / 210;

describe("the size of a live picture", () => {
  it("is the largest whole multiple of its pixels that fits", () => {
    expect(fittedWidth({ width: 1000, height: 700 }, ATARI, 160, 1)).toBe(480);
    expect(fittedWidth({ width: 400, height: 2000 }, ATARI, 160, 1)).toBe(320);
  });

  it("uses device pixels, which may be smaller than CSS pixels", () => {
    expect(fittedWidth({ width: 1000, height: 740 }, ATARI, 160, 2)).toBe(560);
  });

  it("fills the box if the picture may be scaled freely or is larger than the box", () => {
    expect(fittedWidth({ width: 900, height: 400 }, 1.5, null, 1)).toBe(600);
    expect(fittedWidth({ width: 100, height: 400 }, ATARI, 160, 1)).toBe(100);
  });
});
