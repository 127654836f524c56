import { Group, Stack } from "@mantine/core";
import { type CSSProperties, type ReactNode, useState } from "react";
import { useHref, useLocation } from "react-router";
import { ClipButton } from "./clips/ClipButton";
import { USUAL_RATE } from "./clock";
import { RemoveRecording } from "../recordings/RemoveRecording";
import { CopyMoment } from "./CopyMoment";
import { DownloadMenu } from "./DownloadMenu";
import { momentOf, withMoment } from "./moment";
import { Panels, ReplayFacts, type SeenPlace } from "./Panels";
import { idsOf, type Replay } from "./places";
import classes from "./replays.module.css";
import type { SaliencyShown } from "./saliency";
import { PinReplay } from "./PinReplay";
import { SaliencySwitch } from "./SaliencySwitch";
import { SeenSwitch } from "./SeenSwitch";
import { StepButtons } from "./StepButtons";
import { BriefThought, ThoughtPanel, whyNot } from "./ThoughtPanel";
import { Transport } from "./Transport";
import { useMoment } from "./useMoment";
import { usePlayback } from "./usePlayback";
import { useShape } from "@/ui/useShape";
import { useReplayKeys } from "./useReplayKeys";
import { useSteps } from "./useSteps";
import { useThoughts } from "./useThoughts";

interface MicroscopeProps {
  videos: readonly Replay[];
  pixelated: boolean;
  search: URLSearchParams;
  /** Keep the moment at which the replays stand still, or forget it since they play on. */
  hold: (seconds: number) => void;
  release: () => void;
  /** What stands under the picture of one panel. */
  under: (panel: number) => ReactNode;
}

const NO_PICTURES = "This agent reads numbers: its network sees no pictures";
const NOT_KEPT = "This replay was recorded before what the network saw was kept";

function whyNothingSeen({ seen_file_id, track_file_id }: Replay): string | null {
  if (seen_file_id !== null) return null;
  return track_file_id === null ? NOT_KEPT : NO_PICTURES;
}

/** Replays on one clock with what the agent thought in the chosen one, picture by picture. */
export function Microscope({ videos, pixelated, search, hold, release, under }: MicroscopeProps) {
  const [chosen, setChosen] = useState<number | null>(null);
  const [seen, setSeen] = useState<SeenPlace>("off");
  const [opacity, setOpacity] = useState(0.6);
  const [saliency, setSaliency] = useState<SaliencyShown>("off");
  const shape = useShape(pixelated);
  const last = videos.length - 1;
  // Until one is chosen: the last, which is the one that has learned most.
  const panel = Math.min(chosen ?? last, last);
  const video = videos[panel] as Replay;
  const query = useThoughts(video);
  const [from] = useState(() => momentOf(search));
  const playback = usePlayback({
    shown: idsOf(videos).join(","),
    rate: query.data?.head.pictures_per_second,
    from,
  });
  const { ensemble, playing, setPlaying } = playback;
  const head = ensemble.heads[panel] ?? ensemble.clock;
  const steps = useSteps(playback, query.data);
  useMoment(playback, { hold, release });
  useReplayKeys({
    " ": () => setPlaying(!playing),
    ",": () => steps.byPicture(-1),
    ".": () => steps.byPicture(1),
    "[": () => steps.byDecision(-1),
    "]": () => steps.byDecision(1),
  });
  const { pathname } = useLocation();
  const path = useHref(pathname);
  const address = () => {
    const params = withMoment(search, idsOf(videos), ensemble.seconds);
    return new URL(`${path}?${params}`, window.location.origin).href;
  };
  const several = videos.length > 1;
  const besides = seen === "beside" && videos.some(({ seen_file_id }) => seen_file_id !== null);

  return (
    <div
      className={classes.microscope}
      data-panels={videos.length}
      style={{ "--panels": videos.length, "--stage-shape": shape.shape + (besides ? 1 : 0) } as CSSProperties}
    >
      <Panels
        videos={videos}
        playback={playback}
        shape={shape}
        pixelated={pixelated}
        seen={seen}
        opacity={opacity}
        saliency={saliency}
        caption={(each, place) => (
          <>
            {several ? (
              <button
                type="button"
                className={classes.choose}
                aria-pressed={place === panel}
                title="Show what the agent thought in this replay"
                onClick={() => setChosen(place)}
              >
                <ReplayFacts video={each} />
                <BriefThought video={each} head={ensemble.heads[place] ?? head} />
              </button>
            ) : (
              <ReplayFacts video={each} />
            )}
            {under(place)}
          </>
        )}
      />
      <Stack gap="xs" className={classes.controls}>
        <Transport videos={videos} playback={playback} playKey="space" />
        <Group gap="8px 24px">
          <StepButtons thoughts={query.data} why={whyNot(query, video)} head={head} steps={steps} />
          <SeenSwitch
            place={seen}
            setPlace={setSeen}
            opacity={opacity}
            setOpacity={setOpacity}
            blocked={whyNothingSeen(video)}
          />
          <SaliencySwitch
            video={video}
            shown={saliency}
            setShown={setSaliency}
            blocked={whyNothingSeen(video)}
          />
          <Group gap="xs" className={classes.keep}>
            <CopyMoment address={address} />
            <PinReplay video={video} />
            <RemoveRecording run={video.run_id} video={video.id} />
            <ClipButton
              key={video.id}
              video={video}
              rate={query.data?.head.pictures_per_second ?? USUAL_RATE}
              now={() => ensemble.clock.seconds}
            />
            <DownloadMenu video={video} />
          </Group>
        </Group>
      </Stack>
      <ThoughtPanel query={query} video={video} head={head} onPicture={steps.toPicture} />
    </div>
  );
}
