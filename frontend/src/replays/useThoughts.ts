import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { trackQuery } from "@/api/replays";
import { pictureAt, type Playhead } from "./clock";
import type { PlayableReplay } from "./places";
import { decisionAt, type Thoughts, thoughtsOf } from "./track";

export const useThoughts = (replay: PlayableReplay): UseQueryResult<Thoughts> =>
  useQuery({ ...trackQuery(replay), select: thoughtsOf });

/** Return the decision of the shown picture. The component renders again only if the decision changes. */
export function useDecision(thoughts: Thoughts, head: Playhead): number {
  return useSyncExternalStore(head.watch, () =>
    decisionAt(thoughts.picture, pictureAt(head.seconds, thoughts.head.pictures_per_second)),
  );
}
