/** What a live game sends over its WebSocket: see workers/contract/live.py and orders.py. */

import type { Track } from "@/api/types";

/** The agent of a live game, as it acts now. */
export interface AgentOnStage {
  learnt: Track["head"]["learnt"];
  step: number;
  loaded: number;
  temperature: number;
  sampled: "policy" | "random" | "noise";
}

/** What stands on the stage. */
export interface Scene {
  kind: "scene";
  env: string;
  action_names: string[];
  pictures_per_second: number;
  game: number;
  paused: boolean;
  /** Whether the game has ended and a person decides when the next one begins. */
  over: boolean;
  /** None where only people play. */
  agent: AgentOnStage | null;
  /** Whether a person can play it. */
  takes_hands: boolean;
  /** The viewer who plays, instead of the agent if there is one. */
  hands: string | null;
}

/** What goes with a picture. */
export interface PictureHead {
  picture: number;
  game: number;
  frames: number;
  score: number;
  lives: number;
  action: number | number[] | null;
  value: number | null;
  numbers: number[];
  heard: string[];
}

export interface Picture {
  head: PictureHead;
  png: Blob;
}

export type Message = Scene | { kind: "away" } | { kind: "audience"; viewers: number; you: string };

/** What a person holds down. */
export type Key = "up" | "down" | "left" | "right" | "fire";

export type Order =
  | { order: "pause" | "go" | "step" | "new game" | "ping" | "take over" | "hand back" | "keep" }
  | { order: "temperature"; value: number }
  | { order: "keys"; held: Key[] };

/** A page says after so many pictures that it has got them; it is sent no more when it does not. */
export const SEEN_EVERY = 8;
/** The backend closes with this when there is nothing more to come. */
export const FINAL_CODES: readonly number[] = [4000, 4404, 4409];

const LENGTH_BYTES = 4;

export function pictureOf(message: ArrayBuffer): Picture {
  const end = LENGTH_BYTES + new DataView(message).getUint32(0);
  const head = JSON.parse(
    new TextDecoder().decode(new Uint8Array(message, LENGTH_BYTES, end - LENGTH_BYTES)),
  );
  return { head: head as PictureHead, png: new Blob([new Uint8Array(message, end)], { type: "image/png" }) };
}
