/** Scales and lines of the small charts beside a replay. */

export type Domain = readonly [number, number];

const finite = (values: Iterable<number>): number[] => [...values].filter(Number.isFinite);

/** From the least to the greatest of the numbers; never empty, so that one number stands in the middle. */
export function domainOf(values: Iterable<number>): Domain {
  const [low, high] = finite(values).reduce<[number, number]>(
    ([least, most], value) => [Math.min(least, value), Math.max(most, value)],
    [Infinity, -Infinity],
  );
  if (low > high) return [0, 1];
  const room = low === high ? Math.max(1, Math.abs(low)) / 2 : 0;
  return [low - room, high + room];
}

/** Where on a scale a number lies, from 0 to 1; numbers beyond its ends lie on them. */
export function placeOn([low, high]: Domain, value: number): number {
  return Math.min(1, Math.max(0, (value - low) / (high - low)));
}

/** Round numbers within a domain, about so many. */
export function ticksOf([low, high]: Domain, about: number): number[] {
  const rough = (high - low) / about;
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = size * ([1, 2, 5].find((times) => times * size >= rough) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Width and height of the square that lines are drawn in; the page stretches it. */
export const SIDE = 1000;

/** A line through points given from 0 to 1, y upwards, in the words of SVG; NaN leaves a gap. */
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
