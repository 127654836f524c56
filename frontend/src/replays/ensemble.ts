/** Videos on one clock: they start together, wait for each other, and none gets out of step. */

import { correction, middleOf, pictureAt, Playhead, USUAL_RATE } from "./clock";

export const MOST_PANELS = 4;

/** Less than this before its end, a video has nothing more to load. */
const NEARLY_OVER = 0.05;

const isReady = (player: HTMLVideoElement) =>
  !player.seeking &&
  (player.readyState >= HTMLMediaElement.HAVE_FUTURE_DATA ||
    player.duration - player.currentTime < NEARLY_OVER);

export class Ensemble {
  /** The time of all, which is the leader's: of the player that goes on longest. */
  readonly clock = new Playhead();
  /** What each panel shows. */
  readonly heads: readonly Playhead[] = Array.from({ length: MOST_PANELS }, () => new Playhead());
  readonly #players = new Set<HTMLVideoElement>();
  /** Those that have been put on the clock: what others say before is no time. */
  readonly #arrived = new WeakSet<HTMLVideoElement>();
  #obey: () => void = () => undefined;
  #playing = false;
  #speed = 1;
  #rate = USUAL_RATE;
  #frame = 0;
  #shown: string | undefined;
  /** Where players begin that join before any other has a time. */
  #from: number;

  constructor(from: number) {
    this.#from = from;
    this.clock.seconds = from;
  }

  /** Take a player in; one that has a head tells it what it shows. Return how to let it go. */
  join(player: HTMLVideoElement, head?: Playhead): () => void {
    const on = {
      loadeddata: () => this.#arrive(player),
      ended: () => this.#end(),
      timeupdate: () => this.#tell(player, head),
      seeked: () => this.#tell(player, head),
    };
    for (const [name, act] of Object.entries(on)) player.addEventListener(name, act);
    const unfollow = head && "requestVideoFrameCallback" in player ? follow(player, head) : () => undefined;
    this.#players.add(player);
    if (player.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA) this.#arrive(player);
    player.playbackRate = this.#speed;
    if (this.#playing) this.#start(player);
    return () => {
      this.#players.delete(player);
      for (const [name, act] of Object.entries(on)) player.removeEventListener(name, act);
      unfollow();
    };
  }

  play(): void {
    this.#playing = true;
    const going = this.#going();
    for (const player of going) this.#start(player);
    if (going.length === 0 && this.#players.size > 0) this.seek(0);
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(this.#conduct);
  }

  /** Hold all players at the one picture that the leader shows. */
  pause(): void {
    const wasPlaying = this.#playing;
    this.#playing = false;
    cancelAnimationFrame(this.#frame);
    for (const player of this.#players) player.pause();
    if (wasPlaying) this.seek(middleOf(pictureAt(this.seconds, this.#rate), this.#rate));
  }

  /** Go to a time; while they play, all go on together once the last has got there. */
  seek(to: number): void {
    this.#from = to;
    this.clock.move(to);
    for (const player of this.#players) {
      if (!player.paused) player.pause();
      player.currentTime = Math.min(to, player.duration || to);
    }
  }

  setSpeed(speed: number): void {
    this.#speed = speed;
    for (const player of this.#players) player.playbackRate = speed;
  }

  setRate(picturesPerSecond: number): void {
    this.#rate = picturesPerSecond;
  }

  /** Start over when other replays are shown than before. */
  show(replays: string): void {
    const others = this.#shown !== undefined && this.#shown !== replays;
    this.#shown = replays;
    if (others) this.seek(0);
  }

  /** Say what to do when the browser lets nothing play that nobody clicked. */
  whenForbidden(obey: () => void): void {
    this.#obey = obey;
  }

  stop(): void {
    cancelAnimationFrame(this.#frame);
  }

  get seconds(): number {
    return (
      this.#leader([...this.#players].filter((each) => this.#arrived.has(each)))?.currentTime ?? this.#from
    );
  }

  /** Those that still have pictures to show. */
  #going(): HTMLVideoElement[] {
    return [...this.#players].filter((player) => !player.error && !player.ended);
  }

  #leader(among: readonly HTMLVideoElement[] = [...this.#players]): HTMLVideoElement | undefined {
    return among.reduce<HTMLVideoElement | undefined>(
      (first, player) => (first && !(player.duration > first.duration) ? first : player),
      undefined,
    );
  }

  #start(player: HTMLVideoElement): void {
    player.play().catch((error: unknown) => {
      // Another replay took this one's place while it loaded: nothing to say. A browser that forbids playing is obeyed.
      if (error instanceof DOMException && error.name === "NotAllowedError") this.#obey();
    });
  }

  #arrive(player: HTMLVideoElement): void {
    const to = this.seconds;
    this.#arrived.add(player);
    if (to !== player.currentTime) player.currentTime = Math.min(to, player.duration || to);
  }

  #end(): void {
    if (this.#playing && this.#going().length === 0) this.seek(0);
  }

  #tell(player: HTMLVideoElement, head: Playhead | undefined): void {
    if (player === this.#leader()) this.clock.move(player.currentTime);
    // While it plays, a browser that can tells the picture itself.
    if (player.paused || !("requestVideoFrameCallback" in player)) head?.move(player.currentTime);
  }

  /** Before each picture of the page: hold who is ahead until all can go on, then keep them together. */
  readonly #conduct = (): void => {
    this.#frame = requestAnimationFrame(this.#conduct);
    const going = this.#going();
    const ready = going.filter(isReady);
    if (ready.length < going.length) {
      for (const player of ready) if (!player.paused) player.pause();
      return;
    }
    const leader = this.#leader(going);
    if (!leader) return;
    for (const player of going) {
      if (player.paused) this.#start(player);
      if (player !== leader) this.#keepUp(player, leader.currentTime);
      else if (player.playbackRate !== this.#speed) player.playbackRate = this.#speed;
    }
    this.clock.move(leader.currentTime);
  };

  #keepUp(player: HTMLVideoElement, now: number): void {
    if (now >= player.duration) return;
    const [speed, picture] = [this.#speed, 1 / this.#rate];
    const correcting = player.playbackRate !== speed;
    const fix = correction(now - player.currentTime, { picture, speed, correcting });
    if (fix === "seek") player.currentTime = now;
    else if (player.playbackRate !== speed * fix) player.playbackRate = speed * fix;
  }
}

/** Have a browser tell the head of each picture that it shows. */
function follow(player: HTMLVideoElement, head: Playhead): () => void {
  let asked = 0;
  function told(_: number, { mediaTime }: VideoFrameCallbackMetadata) {
    head.move(mediaTime);
    asked = player.requestVideoFrameCallback(told);
  }
  asked = player.requestVideoFrameCallback(told);
  return () => player.cancelVideoFrameCallback(asked);
}
