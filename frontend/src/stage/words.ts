import type { LiveGame } from "@/api/types";
import type { View } from "./broadcast";

export const isOver = (state: LiveGame["state"], view: View) =>
  view.over !== null || (state !== "queued" && state !== "running");

/** Return why no picture arrives, or null while pictures arrive. `loading` names what is loaded first. */
export function whyNoPicture(state: LiveGame["state"], view: View, loading: string): string | null {
  if (state === "failed") return "The game could not go on.";
  if (isOver(state, view)) return "This game is over.";
  if (view.playing) return null;
  if (view.refused) return `${view.refused} The page retries automatically.`;
  if (!view.connected && view.scene)
    return "The connection to the server is lost. The page reconnects automatically.";
  if (view.scene) return "The playing process is gone. Another one is started.";
  if (state === "queued") return "The game has not started yet.";
  return loading;
}
