import { describe, expect, it } from "vitest";
import { Gif, leavesOut, shotsOf, whyNoClip } from "./clip";

/** RGBA values of pixels with these RGB colors. */
const pixels = (...colors: number[][]) => Uint8ClampedArray.from(colors.flatMap((rgb) => [...rgb, 255]));

describe("a GIF", () => {
  it("loops forever and keeps the size, durations and colors of its pictures", () => {
    const gif = new Gif();
    gif.add({ width: 2, height: 1, data: pixels([236, 0, 0], [0, 92, 186]) }, 3);
    gif.add({ width: 2, height: 1, data: pixels([0, 0, 0], [0, 0, 0]) }, 2);
    const bytes = [...gif.bytes()];
    const has = (...part: number[]) => bytes.join(",").includes(part.join(","));
    expect(String.fromCharCode(...bytes.slice(0, 6))).toBe("GIF89a");
    expect(bytes.slice(6, 10)).toEqual([2, 0, 1, 0]);
    expect(String.fromCharCode(...bytes)).toContain("NETSCAPE2.0");
    expect(has(0x21, 0xf9, 4, 0, 3, 0)).toBe(true);
    expect(has(0x21, 0xf9, 4, 0, 2, 0)).toBe(true);
    expect(has(236, 0, 0)).toBe(true);
    expect(has(0, 92, 186)).toBe(true);
    expect(bytes.at(-1)).toBe(0x3b);
  });
});

describe("the pictures of a clip", () => {
  it("are every second one at 60 per second, with the original duration", () => {
    const shots = shotsOf({ from: 1, to: 2 }, 60, false);
    expect(shots.map(({ picture }) => picture)).toEqual(
      Array.from({ length: 30 }, (_, shot) => 60 + 2 * shot),
    );
    expect(shots.reduce((sum, { hundredths }) => sum + hundredths, 0)).toBe(100);
    expect(Math.min(...shots.map(({ hundredths }) => hundredths))).toBe(3);
  });

  it("can be all of them, played more slowly", () => {
    const shots = shotsOf({ from: 1, to: 2 }, 60, true);
    expect(shots.map(({ picture }) => picture)).toEqual(Array.from({ length: 60 }, (_, shot) => 60 + shot));
    expect(new Set(shots.map(({ hundredths }) => hundredths))).toEqual(new Set([2]));
    expect([leavesOut(60), leavesOut(50), leavesOut(20)]).toEqual([true, false, false]);
  });

  it("are all of them at a low frame rate", () => {
    expect(shotsOf({ from: 0.5, to: 1 }, 20, false)).toHaveLength(10);
  });

  it("are between two marks that are not too far apart", () => {
    expect(whyNoClip({ from: 2, to: 1 })).toContain("after the start");
    expect(whyNoClip({ from: 0, to: 34.2 })).toBe(
      "A clip can be at most 20 s long. The marks are 34.2 s apart.",
    );
    expect(whyNoClip({ from: 0, to: 20 })).toBeNull();
  });
});
