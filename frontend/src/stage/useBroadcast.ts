import { useEffect, useState, useSyncExternalStore } from "react";
import { Broadcast } from "./broadcast";

/** A page hidden for this long stops watching, to free the worker. */
const HIDDEN_MS = 30_000;

/** Connect to a live game while its page is visible. Return the state of the game. */
export function useBroadcast(game: number, draw: (image: ImageBitmap) => void) {
  const [broadcast] = useState(() => new Broadcast(game, draw));
  const view = useSyncExternalStore(broadcast.subscribe, broadcast.seen);
  useEffect(() => broadcast.open(), [broadcast]);
  return { view, send: broadcast.send };
}

/** Return true if the page is visible, or was until recently. */
export function useLookedAt(): boolean {
  const [looked, setLooked] = useState(true);
  useEffect(() => {
    let timer: number | undefined;
    const change = () => {
      window.clearTimeout(timer);
      if (document.visibilityState === "visible") setLooked(true);
      else timer = window.setTimeout(() => setLooked(false), HIDDEN_MS);
    };
    document.addEventListener("visibilitychange", change);
    return () => {
      window.clearTimeout(timer);
      document.removeEventListener("visibilitychange", change);
    };
  }, []);
  return looked;
}
