import { useQuery, type UseQueryResult } from "@tanstack/react-query";
import { saliencyMapsQuery, saliencyQuery } from "@/api/queries";
import type { Saliency } from "@/api/types";
import type { Replay } from "./places";
import { type Saliencies, salienciesOf } from "./saliency";

/** Where the saliency of a replay stands; nothing until somebody has asked for it. */
export const useSaliencyState = (video: Replay): UseQueryResult<Saliency> => useQuery(saliencyQuery(video));

/** The saliency of a replay, once it is computed. */
export function useSaliencies(video: Replay): UseQueryResult<Saliencies> {
  const { data } = useSaliencyState(video);
  const file = data?.state === "done" ? data.file_id : null;
  return useQuery({ ...saliencyMapsQuery(video.id, file), select: salienciesOf });
}
