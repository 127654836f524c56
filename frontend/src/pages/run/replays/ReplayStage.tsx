import { Panels } from "./Panels";
import type { Replay } from "./places";
import { Transport } from "./Transport";
import { usePlayback } from "./usePlayback";
import { useShape } from "@/ui/useShape";

interface ReplayStageProps {
  video: Replay;
  pixelated: boolean;
}

/** One replay that plays again and again, for a look in passing. */
export function ReplayStage({ video, pixelated }: ReplayStageProps) {
  const playback = usePlayback({ shown: String(video.id) });
  const shape = useShape(pixelated);
  return (
    <div>
      <Panels videos={[video]} playback={playback} shape={shape} pixelated={pixelated} />
      <Transport videos={[video]} playback={playback} />
    </div>
  );
}
