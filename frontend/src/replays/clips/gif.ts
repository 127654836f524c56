/** Animated GIF encoder, after CompuServe, "Graphics Interchange Format, Version 89a" (1990). */

import { paletted } from "./palette";

export interface Picture {
  width: number;
  height: number;
  /** RGBA values of the pixels. */
  data: Uint8ClampedArray;
}

const CODE_BITS = 8;
const CLEAR = 1 << CODE_BITS;
const END = CLEAR + 1;
const MOST_CODES = 4096;
const MOST_BYTES_OF_A_BLOCK = 255;

const word = (number: number) => [number & 255, (number >> 8) & 255];
const text = (letters: string) => [...letters].map((letter) => letter.charCodeAt(0));

/** A GIF that is built picture by picture and loops forever. */
export class Gif {
  readonly #parts: Uint8Array<ArrayBuffer>[] = [];

  constructor(width: number, height: number) {
    const screen = [...word(width), ...word(height), 0, 0, 0];
    const forever = [0x21, 0xff, 11, ...text("NETSCAPE2.0"), 3, 1, 0, 0, 0];
    this.#parts.push(Uint8Array.from([...text("GIF89a"), ...screen, ...forever]));
  }

  /** Add a picture with a duration in hundredths of a second. */
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

/** Compress pixels by Lempel-Ziv-Welch with codes of nine to twelve bits. */
export function compressed(pixels: Uint8Array): Uint8Array<ArrayBuffer> {
  // The worst case is twelve bits per pixel plus some clear codes.
  const bytes = new Uint8Array(2 * pixels.length + 16);
  // Codes by the previous code and the next pixel. 0 means unknown.
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
      // The decoder learns each code one step later, so the width grows one step later too.
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
