import { useEffect, useRef } from "react";
import type { Playback } from "./usePlayback";

/** After so long without a move the moment is one to keep: an address is not written sixty times a second. */
const SETTLED_MS = 300;

interface MomentOptions {
  /** Keep the moment at which it stands still. */
  hold: (seconds: number) => void;
  /** Forget it, since it plays on. */
  release: () => void;
}

/** Tell of the moment at which a replay was paused or sought, and when it plays on. */
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
