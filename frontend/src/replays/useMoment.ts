import { useEffect, useRef } from "react";
import type { Playback } from "./usePlayback";

/** Delay before the moment is written into the URL, so it is not written 60 times a second. */
const SETTLED_MS = 300;

interface MomentOptions {
  /** Store the moment of a paused replay. */
  hold: (seconds: number) => void;
  /** Clear the moment, because playback continues. */
  release: () => void;
}

/** Report the moment at which a replay is paused or sought, and when playback continues. */
export function useMoment({ ensemble, playing }: Playback, { hold, release }: MomentOptions): void {
  const latest = useRef({ hold, release });
  useEffect(() => {
    latest.current = { hold, release };
  });
  const stood = useRef(!playing);
  useEffect(() => {
    const before = stood.current;
    stood.current = !playing;
    if (playing) {
      if (before) latest.current.release();
      return;
    }
    let waiting = 0;
    function wait() {
      clearTimeout(waiting);
      waiting = window.setTimeout(() => latest.current.hold(ensemble.seconds), SETTLED_MS);
    }
    if (!before) wait();
    const unwatch = ensemble.clock.watch(wait);
    return () => {
      clearTimeout(waiting);
      unwatch();
    };
  }, [ensemble, playing]);
}
