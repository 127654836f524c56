import { Group, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type CSSProperties, type ReactNode, useMemo, useState } from "react";
import { useHref, useLocation } from "react-router";
import { useEnvironmentFamily } from "@/api/configuration";
import { futuresQuery } from "@/api/futures";
import { reviewsQuery } from "@/api/reviews";
import { ClipButton } from "./clips/ClipButton";
import { pictureAt, type Playhead, USUAL_RATE } from "./clock";
import { DeleteRecording } from "./DeleteRecording";
import { CopyMoment } from "./CopyMoment";
import { DownloadMenu } from "./DownloadMenu";
import { PlayFromHere } from "./futures/PlayFromHere";
import { WhatIf, WhatIfButton } from "./futures/WhatIf";
import { momentOf, REVIEW, WHAT_IF, withMoment } from "./moment";
import { Panels, ReplayFacts, type SeenPlace } from "./Panels";
import { idsOf, type PlayableReplay } from "./places";
import classes from "./replays.module.css";
import type { SaliencyShown } from "./saliency";
import { PinReplay } from "./PinReplay";
import { EvaluationBar } from "./review/EvaluationBar";
import { ReviewButton, ReviewPanel } from "./review/ReviewPanel";
import { reviewedOf } from "./review/words";
import { SaliencySwitch } from "./SaliencySwitch";
import { SeenSwitch } from "./SeenSwitch";
import { SaveStartPoints } from "./startPoints/SaveStartPoints";
import { StepButtons } from "./StepButtons";
import { BriefThought, ThoughtPanel, whyNot } from "./ThoughtPanel";
import { Transport } from "./Transport";
import { decisionAt, type Thoughts } from "./track";
import { useMoment } from "./useMoment";
import { usePlayback } from "./usePlayback";
import { MayEdit } from "@/ui/mayEdit";
import { useShape } from "@/ui/useShape";
import { useReplayKeys } from "./useReplayKeys";
import { useSteps } from "./useSteps";
import { useThoughts } from "./useThoughts";

interface MicroscopeProps {
  replays: readonly PlayableReplay[];
  env: string;
  search: URLSearchParams;
  /** Store the moment of paused replays, or clear it when playback continues. */
  hold: (seconds: number) => void;
  release: () => void;
  /** Content under the picture of a panel. */
  under: (panel: number) => ReactNode;
}

const NO_PICTURES = "This agent's network sees numbers, not pictures";
const NOT_DISCRETE = "Only discrete actions can be reviewed, and those of this replay are numbers";
const NOT_KEPT = "This replay has no recording of the network's input";

function whyNothingSeen({ seen_file_id, track_file_id }: PlayableReplay): string | null {
  if (seen_file_id !== null) return null;
  return track_file_id === null ? NOT_KEPT : NO_PICTURES;
}

function momentNow(thoughts: Thoughts | undefined, { seconds }: Playhead) {
  if (!thoughts) return { decision: 0, seconds };
  const { picture, head } = thoughts;
  return { decision: decisionAt(picture, pictureAt(seconds, head.pictures_per_second)), seconds };
}

/** Return why a replay has no futures and gets none. Existing ones can still be seen without the checkpoint. */
function useWhyNoFutures(replay: PlayableReplay): string | null {
  const { simulate } = replay.actions;
  const { data = [] } = useQuery({ ...futuresQuery(replay), enabled: simulate !== null });
  return data.length > 0 ? null : simulate;
}

/** Return the reviewed decisions of a replay, and why it has no review and gets none. */
function useReview(replay: PlayableReplay, thoughts: Thoughts | undefined) {
  const review = useQuery(reviewsQuery(replay)).data?.[0];
  const reviewed = useMemo(() => (review ? reviewedOf(review) : []), [review]);
  const isContinuous = thoughts?.head.numbers_kind === "gaussian";
  // An existing one can still be seen without the checkpoint.
  const why = isContinuous ? NOT_DISCRETE : review ? null : replay.actions.simulate;
  return { why, reviewed };
}

/** Synchronized replays with the track of the selected one. */
export function Microscope({ replays, env, search, hold, release, under }: MicroscopeProps) {
  const [chosen, setChosen] = useState<number | null>(null);
  const [seen, setSeen] = useState<SeenPlace>("off");
  const [opacity, setOpacity] = useState(0.6);
  const [saliency, setSaliency] = useState<SaliencyShown>("off");
  const [whatIf, setWhatIf] = useState(search.has(WHAT_IF));
  const family = useEnvironmentFamily(env);
  const shape = useShape(family?.aspect_ratio);
  const last = replays.length - 1;
  // By default the last replay, which is the most trained.
  const panel = Math.min(chosen ?? last, last);
  const replay = replays[panel] as PlayableReplay;
  const query = useThoughts(replay);
  const whyNoFutures = useWhyNoFutures(replay);
  const [isReviewing, setReviewing] = useState(search.has(REVIEW));
  const review = useReview(replay, query.data);
  const [from] = useState(() => momentOf(search));
  const playback = usePlayback({
    shown: idsOf(replays).join(","),
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
    const params = withMoment(search, idsOf(replays), ensemble.seconds);
    return new URL(`${path}?${params}`, window.location.origin).href;
  };
  const openWhatIf = () => {
    setPlaying(false);
    setWhatIf(true);
  };
  const several = replays.length > 1;
  const besides = seen === "beside" && replays.some(({ seen_file_id }) => seen_file_id !== null);

  return (
    <MayEdit value={replay.actions.edit === null}>
      <div
        className={classes.microscope}
        data-panels={replays.length}
        style={
          { "--panels": replays.length, "--stage-shape": shape.shape + (besides ? 1 : 0) } as CSSProperties
        }
      >
        <Panels
          replays={replays}
          playback={playback}
          shape={shape}
          pixelated={family?.is_pixel_art ?? false}
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
                  title="Show this replay's values and probabilities"
                  onClick={() => setChosen(place)}
                >
                  <ReplayFacts replay={each} />
                  <BriefThought replay={each} head={ensemble.heads[place] ?? head} />
                </button>
              ) : (
                <ReplayFacts replay={each} />
              )}
              {under(place)}
            </>
          )}
        />
        <Stack gap="xs" className={classes.controls}>
          <Transport replays={replays} playback={playback} playKey="space" />
          {query.data && review.reviewed.length > 0 && (
            <EvaluationBar thoughts={query.data} head={head} reviewed={review.reviewed} playing={playing} />
          )}
          <Group gap="8px 24px">
            <StepButtons thoughts={query.data} why={whyNot(query, replay)} head={head} steps={steps} />
            <SeenSwitch
              place={seen}
              setPlace={setSeen}
              opacity={opacity}
              setOpacity={setOpacity}
              blocked={whyNothingSeen(replay)}
            />
            <SaliencySwitch
              replay={replay}
              shown={saliency}
              setShown={setSaliency}
              blocked={whyNothingSeen(replay)}
            />
            <WhatIfButton
              opened={whatIf && query.data !== undefined}
              blocked={query.data ? whyNoFutures : whyNot(query, replay)}
              onToggle={() => (whatIf ? setWhatIf(false) : openWhatIf())}
            />
            <ReviewButton
              opened={isReviewing && query.data !== undefined}
              blocked={query.data ? review.why : whyNot(query, replay)}
              onToggle={() => setReviewing(!isReviewing)}
            />
            <PlayFromHere
              replay={replay.id}
              blocked={query.data ? replay.actions.play : whyNot(query, replay)}
              now={() => momentNow(query.data, head)}
            />
            {family?.openings.includes("starts") && (
              <SaveStartPoints
                key={replay.id}
                blocked={query.data ? replay.actions.start_points : whyNot(query, replay)}
                pause={() => {
                  setPlaying(false);
                  const { decision } = momentNow(query.data, head);
                  return { replay: replay.id, decision, decisions: query.data?.picture.length ?? 0 };
                }}
              />
            )}
            <Group gap="xs" className={classes.keep}>
              <CopyMoment address={address} />
              <PinReplay replay={replay} />
              <DeleteRecording run={replay.run_id} replay={replay.id} />
              <ClipButton
                key={replay.id}
                replay={replay}
                rate={query.data?.head.pictures_per_second ?? USUAL_RATE}
                now={() => ensemble.clock.seconds}
              />
              <DownloadMenu replay={replay} />
            </Group>
          </Group>
        </Stack>
        <ThoughtPanel query={query} replay={replay} head={head} onPicture={steps.toPicture} />
        {isReviewing && query.data && (
          <ReviewPanel
            key={`review ${replay.id}`}
            replay={replay}
            thoughts={query.data}
            head={head}
            steps={steps}
            onClose={() => setReviewing(false)}
          />
        )}
        {whatIf && query.data && (
          <WhatIf
            key={replay.id}
            replay={replay}
            env={env}
            thoughts={query.data}
            head={head}
            playback={playback}
            steps={steps}
            onClose={() => setWhatIf(false)}
          />
        )}
      </div>
    </MayEdit>
  );
}
