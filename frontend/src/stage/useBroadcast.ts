import { useEffect, useState, useSyncExternalStore } from "react";
import { Broadcast } from "./broadcast";

/** A page that is hidden for so long watches no more, so that it keeps no worker busy. */
const HIDDEN_MS = 30_000;

/** The connection to a live game, for as long as its page is on the screen, and what is known of the game. */
export function useBroadcast(game: number, draw: (image: ImageBitmap) => void) {
  const [broadcast] = useState(() => new Broadcast(game, draw));
  const view = useSyncExternalStore(broadcast.subscribe, broadcast.seen);
  useEffect(() => broadcast.open(), [broadcast]);
  return { view, send: broadcast.send };
}

/** Whether the page is looked at, or was a moment ago. */
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
