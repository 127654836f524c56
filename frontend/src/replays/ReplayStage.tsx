import { useEnvironmentFamily } from "@/api/configuration";
import { Panels } from "./Panels";
import type { PlayableReplay } from "./places";
import { Transport } from "./Transport";
import { usePlayback } from "./usePlayback";
import { useShape } from "@/ui/useShape";

interface ReplayStageProps {
  replay: PlayableReplay;
  env: string;
}

/** One replay that plays in a loop. */
export function ReplayStage({ replay, env }: ReplayStageProps) {
  const playback = usePlayback({ shown: String(replay.id) });
  const family = useEnvironmentFamily(env);
  const shape = useShape(family?.aspect_ratio);
  return (
    <div>
      <Panels
        replays={[replay]}
        playback={playback}
        shape={shape}
        pixelated={family?.is_pixel_art ?? false}
      />
      <Transport replays={[replay]} playback={playback} />
    </div>
  );
}
