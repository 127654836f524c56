/** GIF clips of a replay between two marks. */

import { applyPalette, GIFEncoder, quantize } from "gifenc";
import { middleOf, pictureAt } from "../clock";

export const MOST_SECONDS = 20;
/** Maximum frame rate at which browsers play a GIF. */
const FASTEST = 50;

/** Start and end, as times of the replay. */
export interface Marks {
  from: number;
  to: number;
}

/** Return why no clip is possible between two marks, or null. */
export function whyNoClip({ from, to }: Marks): string | null {
  const apart = to - from;
  if (apart <= 0) return "The end must come after the start.";
  if (apart > MOST_SECONDS) {
    return `A clip can be at most ${MOST_SECONDS} s long. The marks are ${apart.toFixed(1)} s apart.`;
  }
  return null;
}

export interface Shot {
  picture: number;
  hundredths: number;
}

/**
 * Return the pictures of a clip with their durations, without an accumulated rounding error. At 60 pictures
 * per second, a GIF has every second picture, or all pictures at 50 per second.
 */
export function shotsOf({ from, to }: Marks, rate: number, all: boolean): Shot[] {
  const every = all ? 1 : Math.ceil(rate / FASTEST);
  const shown = all ? Math.min(rate, FASTEST) : rate / every;
  const first = Math.floor(from * rate);
  const count = Math.max(1, Math.ceil((Math.floor(to * rate) - first) / every));
  const at = (shot: number) => Math.round((100 * shot) / shown);
  return Array.from({ length: count }, (_, shot) => ({
    picture: first + shot * every,
    hundredths: at(shot + 1) - at(shot),
  }));
}

/** Return true if a GIF drops pictures of a video at this frame rate. */
export const leavesOut = (rate: number): boolean => rate > FASTEST;

export interface ClipOptions {
  rate: number;
  shots: readonly Shot[];
  signal: AbortSignal;
  /** Receives the progress from 0 to 1. */
  onProgress: (part: number) => void;
}

/** Make a GIF of a video. Seek to the middle of each picture, so that every browser shows exactly that one. */
export async function clipOf(src: string, { rate, shots, signal, onProgress }: ClipOptions): Promise<Blob> {
  const video = document.createElement("video");
  Object.assign(video, { muted: true, preload: "auto", src });
  try {
    await heard(video, "loadeddata", signal);
    const [width, height] = [video.videoWidth, video.videoHeight];
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    const drawing = canvas.getContext("2d", { willReadFrequently: true });
    if (!drawing) throw new Error("This browser cannot read frames from a video.");
    const gif = new Gif();
    for (const [number, { picture, hundredths }] of shots.entries()) {
      await show(video, picture, rate, signal);
      drawing.drawImage(video, 0, 0);
      gif.add(drawing.getImageData(0, 0, width, height), hundredths);
      onProgress((number + 1) / shots.length);
    }
    return new Blob([gif.bytes()], { type: "image/gif" });
  } finally {
    video.removeAttribute("src");
    video.load();
  }
}

/** Seek to a picture and wait until the browser shows it. The event "seeked" fires slightly earlier. */
async function show(
  video: HTMLVideoElement,
  picture: number,
  rate: number,
  signal: AbortSignal,
): Promise<void> {
  const done = new AbortController();
  const found = "requestVideoFrameCallback" in video ? shown(video, picture, rate, done.signal) : undefined;
  const sought = heard(video, "seeked", signal);
  video.currentTime = Math.min(middleOf(picture, rate), video.duration);
  try {
    await sought;
    await Promise.race([found, stopped(signal, done.signal)]);
  } finally {
    done.abort();
  }
}

/** Wait until the browser reports that it shows a picture. */
function shown(video: HTMLVideoElement, picture: number, rate: number, done: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    function onFrame(_: number, { mediaTime }: VideoFrameCallbackMetadata) {
      if (pictureAt(mediaTime, rate) === picture) resolve();
      else if (!done.aborted) video.requestVideoFrameCallback(onFrame);
    }
    video.requestVideoFrameCallback(onFrame);
  });
}

function stopped(signal: AbortSignal, done: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = () => reject(new DOMException("The clip was stopped.", "AbortError"));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true, signal: done });
  });
}

function heard(video: HTMLVideoElement, event: "loadeddata" | "seeked", signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = new AbortController();
    const end = (act: () => void) => () => {
      done.abort();
      act();
    };
    const options = { once: true, signal: done.signal };
    const failed = () => reject(new Error("The video could not be loaded."));
    video.addEventListener(event, end(resolve), options);
    video.addEventListener("error", end(failed), options);
    const stop = end(() => reject(new DOMException("The clip was stopped.", "AbortError")));
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, options);
  });
}

const MAX_COLORS = 256;

interface Picture {
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
