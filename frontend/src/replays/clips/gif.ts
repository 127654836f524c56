/** Animated GIFs, written by gifenc. */

import { GIFEncoder, applyPalette, quantize } from "gifenc";

const MAX_COLORS = 256;

export interface Picture {
  width: number;
  height: number;
  /** RGBA values of the pixels. */
  data: Uint8ClampedArray;
}

/** A GIF that is built picture by picture and loops forever. Each picture has its own palette. */
export class Gif {
  readonly #encoder = GIFEncoder();

  /** Add a picture with a duration in hundredths of a second. */
  add({ width, height, data }: Picture, hundredths: number): void {
    const palette = quantize(data, MAX_COLORS);
    this.#encoder.writeFrame(applyPalette(data, palette), width, height, { palette, delay: 10 * hundredths });
  }

  /** Return the file. No picture can be added after that. */
  bytes(): Uint8Array<ArrayBuffer> {
    this.#encoder.finish();
    return this.#encoder.bytes();
  }
}
