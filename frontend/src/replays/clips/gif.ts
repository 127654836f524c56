/** Writes animated GIFs: CompuServe, "Graphics Interchange Format, Version 89a" (1990). */

import { paletted } from "./palette";

export interface Picture {
  width: number;
  height: number;
  /** Red, green, blue and opacity of each pixel. */
  data: Uint8ClampedArray;
}

const CODE_BITS = 8;
const CLEAR = 1 << CODE_BITS;
const END = CLEAR + 1;
const MOST_CODES = 4096;
const MOST_BYTES_OF_A_BLOCK = 255;

const word = (number: number) => [number & 255, (number >> 8) & 255];
const text = (letters: string) => [...letters].map((letter) => letter.charCodeAt(0));

/** A GIF that grows picture by picture and plays for ever. */
export class Gif {
  readonly #parts: Uint8Array<ArrayBuffer>[] = [];

  constructor(width: number, height: number) {
    const screen = [...word(width), ...word(height), 0, 0, 0];
    const forever = [0x21, 0xff, 11, ...text("NETSCAPE2.0"), 3, 1, 0, 0, 0];
    this.#parts.push(Uint8Array.from([...text("GIF89a"), ...screen, ...forever]));
  }

  /** Add a picture, which is shown for so many hundredths of a second. */
  add({ width, height, data }: Picture, hundredths: number): void {
    const { colours, pixels } = paletted(data);
    const control = [0x21, 0xf9, 4, 0, ...word(hundredths), 0, 0];
    const itsOwnColours = 0x80 | (CODE_BITS - 1);
    const descriptor = [0x2c, 0, 0, 0, 0, ...word(width), ...word(height), itsOwnColours];
    this.#parts.push(Uint8Array.from([...control, ...descriptor, ...colours, CODE_BITS]));
    this.#parts.push(inBlocks(compressed(pixels)));
  }

  done(): Blob {
    return new Blob([...this.#parts, Uint8Array.of(0x3b)], { type: "image/gif" });
  }
}

/** Lempel-Ziv-Welch with codes that grow from nine bits to twelve. */
export function compressed(pixels: Uint8Array): Uint8Array<ArrayBuffer> {
  // At worst twelve bits a pixel, and a code to clear now and then.
  const bytes = new Uint8Array(2 * pixels.length + 16);
  // By the code of what came before and the next pixel; 0, which is no code of several pixels, where there is none yet.
  const codes = new Uint16Array(MOST_CODES << CODE_BITS);
  let [length, held, bits] = [0, 0, 0];
  let [width, next] = [CODE_BITS + 1, END + 1];

  function write(code: number) {
    held |= code << bits;
    for (bits += width; bits >= 8; bits -= 8) {
      bytes[length] = held & 255;
      length += 1;
      held >>>= 8;
    }
  }

  write(CLEAR);
  let before = pixels[0] ?? 0;
  for (let at = 1; at < pixels.length; at += 1) {
    const pixel = pixels[at] ?? 0;
    const key = (before << CODE_BITS) | pixel;
    const known = codes[key] ?? 0;
    if (known) {
      before = known;
      continue;
    }
    write(before);
    if (next === MOST_CODES) {
      write(CLEAR);
      codes.fill(0);
      [width, next] = [CODE_BITS + 1, END + 1];
    } else {
      // A code is written with as many bits as the reader needs, who learns each code one later.
      if (next === 1 << width) width += 1;
      codes[key] = next;
      next += 1;
    }
    before = pixel;
  }
  write(before);
  if (next === 1 << width && next < MOST_CODES) width += 1;
  write(END);
  if (bits > 0) {
    bytes[length] = held & 255;
    length += 1;
  }
  return bytes.slice(0, length);
}

function inBlocks(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const blocks = Math.ceil(bytes.length / MOST_BYTES_OF_A_BLOCK);
  const found = new Uint8Array(bytes.length + blocks + 1);
  let to = 0;
  for (let from = 0; from < bytes.length; from += MOST_BYTES_OF_A_BLOCK) {
    const block = bytes.subarray(from, from + MOST_BYTES_OF_A_BLOCK);
    found[to] = block.length;
    found.set(block, to + 1);
    to += block.length + 1;
  }
  return found;
}
