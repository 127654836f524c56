import { describe, expect, it } from "vitest";
import { leavesOut, shotsOf, whyNoClip } from "./clip";
import { compressed } from "./gif";
import { paletted } from "./palette";

/** Decodes what is written in LZW, after the description of the format and not after the encoder. */
function decompressed(bytes: Uint8Array): number[] {
  const bits = [...bytes].flatMap((byte) => Array.from({ length: 8 }, (_, bit) => (byte >> bit) & 1));
  let [at, width] = [0, 9];
  let table: number[][] = [];
  const out: number[] = [];
  let before: number[] | null = null;
  for (;;) {
    const code = bits.slice(at, at + width).reduce((sum, bit, place) => sum + bit * 2 ** place, 0);
    at += width;
    if (code === 257) return out;
    if (code === 256) {
      table = Array.from({ length: 258 }, (_, pixel) => [pixel]);
      [width, before] = [9, null];
      continue;
    }
    const found: number[] | null | undefined = table[code] ?? (before && [...before, before[0] as number]);
    if (!found) throw new Error(`no code ${code} at bit ${at}`);
    if (before && table.length < 4096) table.push([...before, found[0] as number]);
    if (table.length === 2 ** width && width < 12) width += 1;
    out.push(...found);
    before = found;
  }
}

/** Numbers that look random and are the same in every run. */
function noise(count: number, of: number): Uint8Array {
  let state = 1;
  return Uint8Array.from({ length: count }, () => {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    return (state >> 16) % of;
  });
}

describe("compression", () => {
  it.each([
    ["nothing but one pixel", Uint8Array.of(7)],
    ["one colour", new Uint8Array(30_000).fill(3)],
    ["stripes", Uint8Array.from({ length: 20_000 }, (_, at) => at % 5)],
    ["noise, for which codes run out", noise(20_000, 256)],
    ["a little noise", noise(20_000, 3)],
  ])("gives back %s", (_, pixels) => {
    expect(decompressed(compressed(pixels))).toEqual([...pixels]);
  });

  it("ends well whatever the number of pixels, also where codes grow", () => {
    const pixels = noise(800, 200);
    for (const from of [250, 760]) {
      for (let length = from; length < from + 30; length += 1) {
        expect(decompressed(compressed(pixels.subarray(0, length)))).toHaveLength(length);
      }
    }
  });
});

describe("colours", () => {
  const picture = (...colours: number[][]) => Uint8ClampedArray.from(colours.flatMap((rgb) => [...rgb, 255]));

  it("are the picture's own where there are few", () => {
    const { colours, pixels } = paletted(picture([236, 236, 236], [0, 0, 0], [92, 186, 92], [0, 0, 0]));
    const told = [...pixels].map((number) => [...colours.slice(3 * number, 3 * number + 3)]);
    expect(told).toEqual([
      [236, 236, 236],
      [0, 0, 0],
      [92, 186, 92],
      [0, 0, 0],
    ]);
  });

  it("are close to the picture's where there are too many", () => {
    const many = Array.from({ length: 4096 }, (_, at) => [
      (at & 15) * 17,
      ((at >> 4) & 15) * 17,
      (at >> 8) * 17,
    ]);
    const { colours, pixels } = paletted(picture(...many));
    const far = many.map((rgb, at) => {
      const number = pixels[at] ?? 0;
      return Math.max(...rgb.map((channel, i) => Math.abs(channel - (colours[3 * number + i] ?? 0))));
    });
    expect(Math.max(...far)).toBeLessThan(60);
    expect(new Set(pixels).size).toBe(256);
  });
});

describe("pictures of a clip", () => {
  it("are every second of sixty a second, and take as long as they did", () => {
    const shots = shotsOf({ from: 1, to: 2 }, 60, false);
    expect(shots.map(({ picture }) => picture)).toEqual(
      Array.from({ length: 30 }, (_, shot) => 60 + 2 * shot),
    );
    expect(shots.reduce((sum, { hundredths }) => sum + hundredths, 0)).toBe(100);
    expect(Math.min(...shots.map(({ hundredths }) => hundredths))).toBe(3);
  });

  it("are all of them a sixth slower, when wanted", () => {
    const shots = shotsOf({ from: 1, to: 2 }, 60, true);
    expect(shots.map(({ picture }) => picture)).toEqual(Array.from({ length: 60 }, (_, shot) => 60 + shot));
    expect(new Set(shots.map(({ hundredths }) => hundredths))).toEqual(new Set([2]));
    expect([leavesOut(60), leavesOut(50), leavesOut(20)]).toEqual([true, false, false]);
  });

  it("are all of a slower video", () => {
    expect(shotsOf({ from: 0.5, to: 1 }, 20, false)).toHaveLength(10);
  });

  it("lie between marks that are not too far apart", () => {
    expect(whyNoClip({ from: 2, to: 1 })).toContain("after the start");
    expect(whyNoClip({ from: 0, to: 34.2 })).toBe(
      "A clip takes at most 20 s, and the marks are 34.2 s apart.",
    );
    expect(whyNoClip({ from: 0, to: 20 })).toBeNull();
  });
});
