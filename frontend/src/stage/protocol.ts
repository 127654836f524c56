/** WebSocket messages of a live game. See workers/arcadia_workers/contract/live.py and orders.py. */

import type { Track } from "@/api/types";

/** The acting agent of a live game. */
export interface AgentOnStage {
  numbers_kind: Track["head"]["numbers_kind"];
  step: number;
  loaded: number;
  temperature: number;
  sampled: "policy" | "random" | "noise";
}

/** The shown game. */
export interface Scene {
  kind: "scene";
  env: string;
  action_names: string[];
  pictures_per_second: number;
  game: number;
  paused: boolean;
  /** True if the game has ended and waits for a player to start the next one. */
  over: boolean;
  /** True if the game waits for a person, at the start or without a player. */
  waiting: boolean;
  /** The decision of a replay at which the game begins, with the score and frames before it. */
  origin: { decision: number; score: number; frames: number } | null;
  /** Null if only people play. */
  agent: AgentOnStage | null;
  /** True if a person can play it. */
  takes_hands: boolean;
  /** False if the game moves only while a key is held, because every action moves it. */
  can_rest: boolean;
  /** True if the fire key does something. */
  has_fire: boolean;
  /** The viewer who plays instead of the agent. */
  hands: string | null;
}

/** Data sent with a picture. */
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

/** Buttons that the player holds. */
export type Key = "up" | "down" | "left" | "right" | "fire";

export type Order =
  | {
      order:
        "pause" | "go" | "step" | "new game" | "ping" | "take over" | "hand back" | "let agent play" | "keep";
    }
  | { order: "temperature"; value: number }
  | { order: "keys"; held: Key[] };

/** A page acknowledges every this many pictures. Without acknowledgments, the backend stops sending. */
export const SEEN_EVERY = 8;
/** Close code of the backend after the end of a game. */
export const FINAL_CODES: readonly number[] = [4000, 4404, 4409];

const LENGTH_BYTES = 4;

export function pictureOf(message: ArrayBuffer): Picture {
  const end = LENGTH_BYTES + new DataView(message).getUint32(0);
  const head = JSON.parse(
    new TextDecoder().decode(new Uint8Array(message, LENGTH_BYTES, end - LENGTH_BYTES)),
  );
  return { head: head as PictureHead, png: new Blob([new Uint8Array(message, end)], { type: "image/png" }) };
}
