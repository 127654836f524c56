/** Videos on one clock: they start together, wait for each other and stay in sync. */

import { correction, middleOf, pictureAt, Playhead, USUAL_RATE } from "./clock";

export const MOST_PANELS = 4;

/** Seconds before its end at which a video is fully loaded. */
const NEARLY_OVER = 0.05;

const isReady = (player: HTMLVideoElement) =>
  !player.seeking &&
  (player.readyState >= HTMLMediaElement.HAVE_FUTURE_DATA ||
    player.duration - player.currentTime < NEARLY_OVER);

export class Ensemble {
  /** The shared time: the time of the leader, the player with the longest video. */
  readonly clock = new Playhead();
  /** Position of each panel. */
  readonly heads: readonly Playhead[] = Array.from({ length: MOST_PANELS }, () => new Playhead());
  readonly #players = new Set<HTMLVideoElement>();
  /** Players that are synchronized. The times of other players are ignored. */
  readonly #arrived = new WeakSet<HTMLVideoElement>();
  #obey: () => void = () => undefined;
  #playing = false;
  #speed = 1;
  #rate = USUAL_RATE;
  #frame = 0;
  #shown: string | undefined;
  /** Start time of players that join before any other has a time. */
  #from: number;

  constructor(from: number) {
    this.#from = from;
    this.clock.seconds = from;
  }

  /** Add a player, which reports its position to its head, if any. Return a function that removes it. */
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

  /** Pause all players at the leader's picture. */
  pause(): void {
    const wasPlaying = this.#playing;
    this.#playing = false;
    cancelAnimationFrame(this.#frame);
    for (const player of this.#players) player.pause();
    if (wasPlaying) this.seek(middleOf(pictureAt(this.seconds, this.#rate), this.#rate));
  }

  /** Seek to a time. Playing videos continue together once all have arrived. */
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

  /** Reset when other replays are shown. */
  show(replays: string): void {
    const others = this.#shown !== undefined && this.#shown !== replays;
    this.#shown = replays;
    if (others) this.seek(0);
  }

  /** Set the callback for browsers that block autoplay. */
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

  /** Players that have not reached their end. */
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
      // Ignore the error if another replay replaced this one while it loaded. Otherwise the browser blocked autoplay.
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
    // During playback, browsers that support it report each picture.
    if (player.paused || !("requestVideoFrameCallback" in player)) head?.move(player.currentTime);
  }

  /** On each animation frame, hold players that are ahead until all can continue, then keep them in sync. */
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

/** Report each shown picture to the head. */
function follow(player: HTMLVideoElement, head: Playhead): () => void {
  let asked = 0;
  function onFrame(_: number, { mediaTime }: VideoFrameCallbackMetadata) {
    head.move(mediaTime);
    asked = player.requestVideoFrameCallback(onFrame);
  }
  asked = player.requestVideoFrameCallback(onFrame);
  return () => player.cancelVideoFrameCallback(asked);
}
