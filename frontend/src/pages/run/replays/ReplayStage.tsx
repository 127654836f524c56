import { Panels } from "./Panels";
import type { PlayableReplay } from "./places";
import { Transport } from "./Transport";
import { usePlayback } from "./usePlayback";
import { useShape } from "@/ui/useShape";

interface ReplayStageProps {
  replay: PlayableReplay;
  pixelated: boolean;
}

/** One replay that plays again and again, for a look in passing. */
export function ReplayStage({ replay, pixelated }: ReplayStageProps) {
  const playback = usePlayback({ shown: String(replay.id) });
  const shape = useShape(pixelated);
  return (
    <div>
      <Panels replays={[replay]} playback={playback} shape={shape} pixelated={pixelated} />
      <Transport replays={[replay]} playback={playback} />
    </div>
  );
}
