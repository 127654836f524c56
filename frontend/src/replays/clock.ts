/** Picture times of a video, and the synchronization of videos with one clock. */

/** Default frame rate of a video without a track. */
export const USUAL_RATE = 60;

/**
 * Return the picture that is shown at a moment. Browsers report the rounded start of the picture, or its middle after
 * a seek. A quarter of a picture is added so that both give the same picture.
 */
export const pictureAt = (seconds: number, rate: number): number => Math.floor(seconds * rate + 0.25);

/** Return the time to seek to so that a browser shows exactly this picture. */
export const middleOf = (picture: number, rate: number): number => (picture + 0.5) / rate;

/** With a larger offset, a seek is faster than a changed playback rate. */
const SEEK_BEYOND = 0.5;
/** Seconds in which a player catches up, if its playback rate stays within limits. */
const WITHIN = 0.5;
const MOST = 0.25;

interface Pace {
  /** Duration of a picture in seconds. */
  picture: number;
  speed: number;
  /** True if the player is already catching up. */
  correcting: boolean;
}

/**
 * Return how a player that is `late` seconds late (early if negative) catches up: "seek", or a factor of its
 * playback rate. The correction starts at half a picture and ends when the player is almost in sync. It is
 * proportional to the offset: a page with little processor time checks late and would otherwise overshoot.
 */
export function correction(late: number, { picture, speed, correcting }: Pace): "seek" | number {
  const off = Math.abs(late);
  if (off > SEEK_BEYOND) return "seek";
  if (off <= picture * (correcting ? 0.15 : 0.5)) return 1;
  return 1 + Math.sign(late) * Math.min(MOST, off / (speed * WITHIN));
}

/** Current position of a player. It changes up to 60 times a second and notifies only its subscribers. */
export class Playhead {
  /** A time within the shown picture. */
  seconds = 0;
  readonly #watchers = new Set<() => void>();

  readonly watch = (listener: () => void): (() => void) => {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  };

  move(seconds: number): void {
    if (seconds === this.seconds) return;
    this.seconds = seconds;
    for (const listener of this.#watchers) listener();
  }
}
