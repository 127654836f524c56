import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { saliencyMapsQuery, saliencyQuery } from "@/api/replays";
import type { Saliency } from "@/api/types";
import type { PlayableReplay } from "./places";
import { type Saliencies, salienciesOf } from "./saliency";

/** Return the state of a replay's saliency, or nothing before it is requested. */
export const useSaliencyState = (replay: PlayableReplay): UseQueryResult<Saliency> =>
  useQuery(saliencyQuery(replay));

/** Return the saliency of each replay, once it is computed. */
export function useSaliencies(replay: PlayableReplay): UseQueryResult<Saliencies> {
  const { data } = useSaliencyState(replay);
  const file = data?.state === "done" ? data.file_id : null;
  return useQuery({ ...saliencyMapsQuery(replay.id, file), select: salienciesOf });
}
