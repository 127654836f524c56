import { useQuery } from "@tanstack/react-query";
import { checkpointsQuery } from "@/api/checkpoints";
import type { Run } from "@/api/types";
import { availabilityText } from "@/ui/states";

/** When the first replay of a run appears, or that the run has none. */
export function AwaitedReplay({ run }: { run: Run }) {
  const { data: checkpoints } = useQuery(checkpointsQuery(run.id));
  return availabilityText(run, comes(run, checkpoints?.length ?? 0), "This run has no replays.");
}

function comes({ state }: Pick<Run, "state">, checkpoints: number): string {
  if (checkpoints === 0) return "The first replay is recorded after the first checkpoint.";
  if (state !== "running") return "The first replay is recorded when it trains.";
  return "The first replay is being recorded. It may take a minute, because training comes first.";
}
