import type { LiveGame } from "@/api/types";
import type { View } from "./broadcast";

export const isOver = (state: LiveGame["state"], view: View) =>
  view.over !== null || (state !== "queued" && state !== "running");

/** Return why no picture arrives, or null while pictures arrive. `loading` names what is loaded first. */
export function whyNoPicture(state: LiveGame["state"], view: View, loading: string): string | null {
  if (state === "failed") return "The game failed.";
  if (isOver(state, view)) return "This game is over.";
  if (view.playing) return null;
  if (view.refused) return `${view.refused} Retrying automatically…`;
  if (!view.connected && view.scene) return "Connection lost. Reconnecting…";
  if (view.scene) return "The game process stopped. Starting another…";
  if (state === "queued") return "The game has not started yet.";
  return loading;
}
