/** Palette of one picture: at most 256 colors, each the mean of similar pixels. */

const MOST = 256;
/** Number of high bits in which the channels of similar colors agree. */
const BITS = 5;
const SHIFT = 8 - BITS;
const BINS = 1 << (3 * BITS);

export interface Paletted {
  /** RGB values of each color. */
  colours: Uint8Array;
  /** Color index of each pixel. */
  pixels: Uint8Array;
}

/** Bins whose pixels share a color. */
type Box = number[];

const binOf = (red: number, green: number, blue: number) =>
  ((red >> SHIFT) << (2 * BITS)) | ((green >> SHIFT) << BITS) | (blue >> SHIFT);

const channelOf = (bin: number, channel: number) => (bin >> ((2 - channel) * BITS)) & ((1 << BITS) - 1);

/** Return the palette of RGBA pixels and each pixel's color index. */
export function paletted(rgba: Uint8ClampedArray): Paletted {
  const counts = new Uint32Array(BINS);
  const sums = [new Float64Array(BINS), new Float64Array(BINS), new Float64Array(BINS)] as const;
  for (let at = 0; at < rgba.length; at += 4) {
    const bin = binOf(rgba[at] ?? 0, rgba[at + 1] ?? 0, rgba[at + 2] ?? 0);
    counts[bin] = (counts[bin] ?? 0) + 1;
    sums.forEach((sum, channel) => (sum[bin] = (sum[bin] ?? 0) + (rgba[at + channel] ?? 0)));
  }
  const boxes = boxesOf(
    [...counts.keys()].filter((bin) => counts[bin]),
    counts,
  );
  const colours = new Uint8Array(3 * MOST);
  const numbers = new Uint8Array(BINS);
  boxes.forEach((box, number) => {
    const count = sumOver(box, counts);
    sums.forEach((sum, channel) => (colours[3 * number + channel] = Math.round(sumOver(box, sum) / count)));
    for (const bin of box) numbers[bin] = number;
  });
  const pixels = new Uint8Array(rgba.length / 4);
  for (let at = 0; at < pixels.length; at += 1) {
    pixels[at] = numbers[binOf(rgba[4 * at] ?? 0, rgba[4 * at + 1] ?? 0, rgba[4 * at + 2] ?? 0)] ?? 0;
  }
  return { colours, pixels };
}

const sumOver = (box: Box, of: ArrayLike<number>) => box.reduce((sum, bin) => sum + (of[bin] ?? 0), 0);

/** Split the bins into one box per palette color (Heckbert's median cut). */
function boxesOf(bins: number[], counts: Uint32Array): Box[] {
  if (bins.length <= MOST) return bins.map((bin) => [bin]);
  const boxes: Box[] = [bins];
  while (boxes.length < MOST) {
    const widest = boxes.reduce((found, box) =>
      weightOf(box, counts) > weightOf(found, counts) ? box : found,
    );
    boxes.splice(boxes.indexOf(widest), 1, ...halves(widest, counts));
  }
  return boxes;
}

/** Return the priority of splitting a box: many pixels in many shades. */
const weightOf = (box: Box, counts: Uint32Array) =>
  box.length < 2 ? -1 : sumOver(box, counts) * spread(box).width;

function spread(box: Box): { channel: number; width: number } {
  const all = [0, 1, 2].map((channel) => {
    const found = box.map((bin) => channelOf(bin, channel));
    return { channel, width: Math.max(...found) - Math.min(...found) };
  });
  return all.reduce((widest, each) => (each.width > widest.width ? each : widest));
}

function halves(box: Box, counts: Uint32Array): [Box, Box] {
  const { channel } = spread(box);
  const ordered = [...box].sort((a, b) => channelOf(a, channel) - channelOf(b, channel));
  const half = sumOver(box, counts) / 2;
  let [cut, sum] = [0, 0];
  while (cut < ordered.length - 1 && sum < half) {
    sum += counts[ordered[cut] ?? 0] ?? 0;
    cut += 1;
  }
  return [ordered.slice(0, cut), ordered.slice(cut)];
}
