import { Button, Code, Group, Menu, Stack, Text, Tooltip } from "@mantine/core";
import { IconCheck, IconDownload, IconLink, IconPin, IconPinFilled } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type CSSProperties, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useHref, useLocation } from "react-router";
import { fileAddress } from "@/api/client";
import { useEnvironmentFamily } from "@/api/configuration";
import { futuresQuery } from "@/api/futures";
import { useMayWrite } from "@/api/projects";
import { usePinReplay } from "@/api/replays";
import { reviewsQuery } from "@/api/reviews";
import { AddToReport } from "@/charts/AddToReport";
import { MayEdit } from "@/ui/mayEdit";
import { useCopy } from "@/ui/useCopy";
import { useShape } from "@/ui/useShape";
import { ClipButton } from "./clips/ClipButton";
import { pictureAt, type Playhead, USUAL_RATE } from "./clock";
import { DeleteRecording } from "./DeleteRecording";
import { PlayFromHere } from "./futures/PlayFromHere";
import { WhatIf, WhatIfButton } from "./futures/WhatIf";
import { momentOf, REVIEW, WHAT_IF, withMoment } from "./moment";
import { Panels, ReplayFacts, type SeenPlace } from "./Panels";
import { idsOf, type PlayableReplay } from "./places";
import { EvaluationBar } from "./review/EvaluationBar";
import { ReviewButton, ReviewPanel } from "./review/ReviewPanel";
import { reviewedOf } from "./review/words";
import type { SaliencyShown } from "./saliency";
import { SaliencySwitch } from "./SaliencySwitch";
import { SeenSwitch } from "./SeenSwitch";
import { SaveStartPoints } from "./startPoints/SaveStartPoints";
import { StepButtons } from "./StepButtons";
import { BriefThought, ThoughtPanel, whyNot } from "./ThoughtPanel";
import { decisionAt, type Thoughts } from "./track";
import { Transport } from "./Transport";
import { type Playback, usePlayback } from "./usePlayback";
import { useSteps } from "./useSteps";
import { useThoughts } from "./useThoughts";
import classes from "./replays.module.css";

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

/** Delay before the moment is written into the URL, so it is not written 60 times a second. */
const SETTLED_MS = 300;

interface MomentOptions {
  /** Store the moment of a paused replay. */
  hold: (seconds: number) => void;
  /** Clear the moment, because playback continues. */
  release: () => void;
}

/** Report the moment at which a replay is paused or sought, and when playback continues. */
function useMoment({ ensemble, playing }: Playback, { hold, release }: MomentOptions): void {
  const latest = useRef({ hold, release });
  useEffect(() => {
    latest.current = { hold, release };
  });
  const stood = useRef(!playing);
  useEffect(() => {
    const before = stood.current;
    stood.current = !playing;
    if (playing) {
      if (before) latest.current.release();
      return;
    }
    let waiting = 0;
    function wait() {
      clearTimeout(waiting);
      waiting = window.setTimeout(() => latest.current.hold(ensemble.seconds), SETTLED_MS);
    }
    if (!before) wait();
    const unwatch = ensemble.clock.watch(wait);
    return () => {
      clearTimeout(waiting);
      unwatch();
    };
  }, [ensemble, playing]);
}

const WRITTEN_IN = "textarea, select, [contenteditable=true], input:not([type=radio], [type=checkbox])";
const PRESSED_BY_SPACE = "a, button, input, [role=menuitem], [role=combobox]";

/** Register the player's shortcuts for the whole page, except in text fields and dialogs. */
function useReplayKeys(keys: Record<string, () => void>): void {
  const latest = useRef(keys);
  useEffect(() => {
    latest.current = keys;
  });
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      const act = latest.current[event.key];
      if (!act || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector("[role=dialog][aria-modal=true]")) return;
      const { target } = event;
      if (target instanceof Element) {
        if (target.closest(WRITTEN_IN) || (event.key === " " && target.closest(PRESSED_BY_SPACE))) return;
      }
      event.preventDefault();
      act();
    }
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
}

interface CopyMomentProps {
  /** Returns the URL of the moment. */
  address: () => string;
}

function CopyMoment({ address }: CopyMomentProps) {
  const { copied, copy } = useCopy();
  return (
    <Tooltip label="Opens these replays at this moment, paused">
      <Button
        size="xs"
        variant="default"
        leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconLink size={14} aria-hidden />}
        onClick={() => copy(address())}
      >
        {copied ? "Link copied" : "Copy link to this moment"}
      </Button>
    </Tooltip>
  );
}

/** Button that pins or unpins a replay. Pruning never deletes a pinned one. */
function PinReplay({ replay }: { replay: PlayableReplay }) {
  const pin = usePinReplay(replay.run_id);
  const { pinned } = replay;
  if (replay.actions.edit !== null) return null;
  return (
    <Tooltip
      label={
        pinned
          ? "Pruning never deletes this replay"
          : "Keep this replay when its checkpoint is deleted or space runs out"
      }
    >
      <Button
        size="xs"
        variant="default"
        aria-pressed={pinned}
        leftSection={pinned ? <IconPinFilled size={14} aria-hidden /> : <IconPin size={14} aria-hidden />}
        loading={pin.isPending}
        onClick={() => pin.mutate({ replay: replay.id, pinned: !pinned })}
      >
        {pinned ? "Pinned" : "Pin"}
      </Button>
    </Tooltip>
  );
}

/** Menu of a replay: download its files, copy notebook code for its track, or add it to a report. */
function DownloadMenu({ replay }: { replay: PlayableReplay }) {
  const files: [string, number | null][] = [
    ["Replay (.mp4)", replay.file_id],
    ["Network input (.mp4)", replay.seen_file_id],
    ["Track (.npz)", replay.track_file_id],
  ];
  const [adding, setAdding] = useState(false);
  const mayWrite = useMayWrite();
  return (
    <>
      <Menu>
        <Menu.Target>
          <Button size="xs" variant="default" leftSection={<IconDownload size={14} aria-hidden />}>
            Download
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {files.map(([name, id]) =>
            id === null ? null : (
              <Menu.Item key={name} component="a" href={fileAddress(id)} download>
                {name}
              </Menu.Item>
            ),
          )}
          {mayWrite && <Menu.Item onClick={() => setAdding(true)}>Add to report…</Menu.Item>}
          {replay.track_file_id !== null && (
            <Text size="xs" c="dimmed" px="sm" py={4} maw={300} component="div" role="presentation">
              In a notebook: <Code>numpy.load("track.npz")["value"]</Code>
            </Text>
          )}
        </Menu.Dropdown>
      </Menu>
      <AddToReport
        block={{ kind: "replay", replay: replay.id, caption: "" }}
        opened={adding}
        onClose={() => setAdding(false)}
      />
    </>
  );
}
