/** Scales and lines of the small charts next to a replay. */

export type Domain = readonly [number, number];

const finite = (values: Iterable<number>): number[] => [...values].filter(Number.isFinite);

/** Return the range of the numbers. It is never empty, so a single number is centered. */
export function domainOf(values: Iterable<number>): Domain {
  const [low, high] = finite(values).reduce<[number, number]>(
    ([least, most], value) => [Math.min(least, value), Math.max(most, value)],
    [Infinity, -Infinity],
  );
  if (low > high) return [0, 1];
  const room = low === high ? Math.max(1, Math.abs(low)) / 2 : 0;
  return [low - room, high + room];
}

/** Return a number's position on a scale from 0 to 1, clamped. */
export function placeOn([low, high]: Domain, value: number): number {
  return Math.min(1, Math.max(0, (value - low) / (high - low)));
}

/** Return round numbers within a domain. */
export function ticksOf([low, high]: Domain, about: number): number[] {
  const rough = (high - low) / about;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = size * ([1, 2, 5].find((times) => times * size >= rough) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Width and height of the SVG square for lines. CSS stretches it. */
export const SIDE = 1000;

/** Return the SVG path through points from 0 to 1, with y upwards. NaN leaves a gap. */
export function line(points: readonly (readonly [number, number])[]): string {
  let drawn = "";
  let pen = "M";
  for (const [x, y] of points) {
    if (Number.isNaN(x + y)) {
      pen = "M";
      continue;
    }
    drawn += `${pen}${(x * SIDE).toFixed(1)} ${((1 - y) * SIDE).toFixed(1)}`;
    pen = "L";
  }
  return drawn;
}
