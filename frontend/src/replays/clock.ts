/** The pictures of a video in time, and how videos are kept on one clock. */

/** Rate of a video whose track does not tell it. */
export const USUAL_RATE = 60;

/**
 * The picture shown at a time. A browser says when the picture shown began, a little off for want of digits; a player
 * that was sought says the middle of it. A quarter of a picture is added so that both name the same.
 */
export const pictureAt = (seconds: number, rate: number): number => Math.floor(seconds * rate + 0.25);

/** The time to seek to for a browser to show exactly this picture. */
export const middleOf = (picture: number, rate: number): number => (picture + 0.5) / rate;

/** Further off than this, a seek is quicker than to run faster or slower. */
const SEEK_BEYOND = 0.5;
/** A player gets back on the clock in so many seconds of the reader's time, if it need not run at too odd a rate. */
const WITHIN = 0.5;
const MOST = 0.25;

interface Pace {
  /** Seconds that a picture lasts. */
  picture: number;
  speed: number;
  /** Whether the player is getting back on the clock already. */
  correcting: boolean;
}

/**
 * How a player that is late (or, below zero, early) by so many seconds gets back on the clock: by a seek, or by
 * running at another rate. One that is off by less than half a picture keeps what it does until it is nearly right.
 * The less it is off, the less is its rate: a page that has little of the processor looks again late, and would find
 * it far off on the other side.
 */
export function correction(late: number, { picture, speed, correcting }: Pace): "seek" | number {
  const off = Math.abs(late);
  if (off > SEEK_BEYOND) return "seek";
  if (off <= picture * (correcting ? 0.15 : 0.5)) return 1;
  return 1 + Math.sign(late) * Math.min(MOST, off / (speed * WITHIN));
}

/** What a player shows now, as told sixty times a second: only those who look are told. */
export class Playhead {
  /** A time within the picture that is shown. */
  seconds = 0;
  readonly #watchers = new Set<() => void>();

  readonly watch = (told: () => void): (() => void) => {
    this.#watchers.add(told);
    return () => this.#watchers.delete(told);
  };

  move(seconds: number): void {
    if (seconds === this.seconds) return;
    this.seconds = seconds;
    for (const told of this.#watchers) told();
  }
}
