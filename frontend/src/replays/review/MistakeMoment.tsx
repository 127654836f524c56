import { Button, CloseButton, Group, Progress, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { fileAddress } from "@/api/client";
import { useEnvironmentFamily } from "@/api/configuration";
import { futuresQuery, futuresResultQuery, useRequestFutures } from "@/api/futures";
import { isUnfinished } from "@/api/jobs";
import type { Future, Futures, FuturesSummary, ReviewDocument, ReviewedDecision } from "@/api/types";
import { DataTable } from "@/ui/DataTable";
import { QueryError } from "@/ui/QueryError";
import { Reason } from "@/ui/Reason";
import { TextWithCode } from "@/ui/TextWithCode";
import type { Ensemble } from "../ensemble";
import { SilentVideo } from "../futures/FutureVideos";
import { formatEstimate, isByAnother, nameDecision } from "../futures/words";
import type { PlayableReplay } from "../places";
import type { Thoughts } from "../track";
import { Transport } from "../Transport";
import { usePlayback } from "../usePlayback";
import { describeEnd, describeEvidence, describeLoss, formatNumber, REASONS, titleOf } from "./words";
import classes from "./review.module.css";

interface MistakeMomentProps {
  replay: PlayableReplay;
  thoughts: Thoughts;
  document: ReviewDocument;
  mistake: ReviewedDecision;
  /** True while the review runs. */
  isRunning: boolean;
  onClose: () => void;
}

/** The moment of a mistake: what was played, what would have been better, and futures of both. */
export function MistakeMoment(props: MistakeMomentProps) {
  const { replay, thoughts, document, mistake, isRunning, onClose } = props;
  const panel = useRef<HTMLElement>(null);
  useEffect(() => panel.current?.scrollIntoView({ block: "nearest" }), []);
  return (
    <section
      ref={panel}
      className={classes.moment}
      aria-label={`Moment of ${nameDecision(mistake.decision)}`}
    >
      <Group justify="space-between" wrap="nowrap" align="start">
        <Title order={3} size="h4">
          {titleOf(mistake)}
        </Title>
        <CloseButton size={32} aria-label="Close the moment" onClick={onClose} />
      </Group>
      <Text size="sm">{describeLoss(mistake, document.clip_rewards)}</Text>
      <Compared thoughts={thoughts} mistake={mistake} />
      <Text size="xs" c="dimmed" maw={640}>
        {describeEvidence(mistake)}. Looked at because: {REASONS[mistake.reason]}.
        {isRunning && " The review is not finished: more decisions take more evidence."}
      </Text>
      <BothFutures
        key={mistake.decision}
        replay={replay}
        thoughts={thoughts}
        document={document}
        mistake={mistake}
      />
    </section>
  );
}

/** The two actions with the agent's numbers and the mean outcomes. */
function Compared({ thoughts, mistake }: Pick<MistakeMomentProps, "thoughts" | "mistake">) {
  const { action_names, numbers_kind } = thoughts.head;
  const { taken, better, taken_outcome, better_outcome } = mistake;
  const rows = [
    { role: "Played", name: taken, outcome: taken_outcome },
    { role: "Better", name: better ?? "", outcome: better_outcome },
  ];
  return (
    <DataTable
      label="Played and better action"
      frameClass={classes.compared}
      verticalSpacing={4}
      horizontalSpacing={8}
      rows={rows}
      rowKey={({ role }) => role}
      columns={[
        { title: "Side", isTitleHidden: true, cell: ({ role }) => role, isRowHeader: true },
        { title: "Action", cell: ({ name }) => name },
        {
          title: numbers_kind === "values" ? "Q-value" : "Probability",
          numeric: true,
          cell: ({ name }) =>
            formatNumber(thoughts.numbers[mistake.decision]?.[action_names.indexOf(name)], numbers_kind),
        },
        {
          title: "Mean outcome",
          numeric: true,
          cell: ({ outcome }) => (outcome ? formatEstimate(outcome) : "being measured"),
        },
      ]}
    />
  );
}

/** Futures of each side. Three of them have videos. */
const FUTURES = 8;

/** Return the futures with videos of the first ones that begin with an action: finished ones, or the newest. */
function findFutures(
  list: readonly FuturesSummary[],
  replay: PlayableReplay,
  { decision }: ReviewedDecision,
  action: string,
): FuturesSummary | undefined {
  const same = list.filter(
    (each) =>
      each.decision === decision &&
      each.videos_of === "first" &&
      each.first?.join() === action &&
      !isByAnother(each, replay),
  );
  return same.find(({ state }) => state === "done") ?? same[0];
}

function BothFutures(props: Pick<MistakeMomentProps, "replay" | "thoughts" | "document" | "mistake">) {
  const { replay, thoughts, document, mistake } = props;
  const list = useQuery(futuresQuery(replay)).data ?? [];
  const request = useRequestFutures(replay);
  const actions = [mistake.taken, mistake.better ?? ""];
  const found = actions.map((action) => findFutures(list, replay, mistake, action));
  const lacking = actions.filter((_, side) => {
    const { state } = found[side] ?? { state: "failed" };
    return state === "failed" || state === "cancelled";
  });
  const [played, better] = found;
  if (played?.state === "done" && better?.state === "done")
    return <Loaded thoughts={thoughts} mistake={mistake} played={played} better={better} />;
  const sides = found.filter((each) => each !== undefined);
  const failed = sides.find(({ state }) => state === "failed");
  if (lacking.length === 0) return <UnderWay sides={sides} />;

  async function show() {
    for (const first of lacking)
      await request.mutateAsync({
        decision: mistake.decision,
        futures: FUTURES,
        horizon: document.horizon,
        until: document.clip_rewards ? "outcome" : "horizon",
        first: [first],
        record_videos: true,
        videos_of: "first",
      });
  }

  return (
    <div className={classes.futures}>
      {failed && <Reason of={failed} />}
      {request.isError && (
        <Text size="sm" c="red" role="alert">
          {request.error.message}
        </Text>
      )}
      <Group gap="sm">
        <Button
          size="sm"
          disabled={replay.actions.simulate !== null}
          loading={request.isPending}
          // The error of the request is shown above.
          onClick={() => void show().catch(() => undefined)}
        >
          {failed ? "Try again" : "Show futures"}
        </Button>
        <Text size="sm" c="dimmed">
          {replay.actions.simulate ??
            "Plays three futures of both actions with the same random numbers, so a pair shows what the action changes."}
        </Text>
      </Group>
    </div>
  );
}

function UnderWay({ sides }: { sides: readonly FuturesSummary[] }) {
  const done = sides.reduce((sum, side) => sum + (side.state === "done" ? side.total : side.done), 0);
  const total = sides.reduce((sum, side) => sum + side.total, 0);
  const unfinished = sides.filter(isUnfinished);
  const waiting = unfinished.every(({ state }) => state === "queued");
  const percent = Math.round((100 * done) / Math.max(1, total));
  return (
    <div className={classes.futures}>
      <Text size="sm" role="status">
        {waiting ? (
          <TextWithCode>{unfinished[0]?.reason ?? "Waiting for a worker"}</TextWithCode>
        ) : (
          "Playing the futures of both actions"
        )}
      </Text>
      <Progress value={percent} animated={!waiting} aria-label="Progress of the futures" />
    </div>
  );
}

interface LoadedProps extends Pick<MistakeMomentProps, "thoughts" | "mistake"> {
  played: FuturesSummary;
  better: FuturesSummary;
}

function Loaded({ thoughts, mistake, played, better }: LoadedProps) {
  const queries = [useQuery(futuresResultQuery(played.id)), useQuery(futuresResultQuery(better.id))];
  const [one, other] = queries.map(({ data }) => data);
  const failed = queries.find(({ isError }) => isError);
  if (one?.document && other?.document)
    return (
      <SideBySide
        thoughts={thoughts}
        sides={[
          { role: "Played", action: mistake.taken, of: one },
          { role: "Better", action: mistake.better ?? "", of: other },
        ]}
      />
    );
  if (failed?.error) return <QueryError error={failed.error} retry={() => void failed.refetch()} />;
  return (
    <Text size="sm" c="dimmed" role="status">
      Loading the futures…
    </Text>
  );
}

interface Side {
  role: "Played" | "Better";
  /** The action that these futures begin with. */
  action: string;
  of: Futures;
}

interface SideBySideProps {
  thoughts: Thoughts;
  sides: readonly [Side, Side];
}

/** Futures of two actions in pairs with the same random numbers. All videos play in step. */
function SideBySide({ thoughts, sides }: SideBySideProps) {
  const { env, frames_per_action, pictures_per_second } = thoughts.head;
  const pixelated = useEnvironmentFamily(env)?.is_pixel_art ?? false;
  const playback = usePlayback({ shown: sides.map(({ of }) => of.id).join() });
  const futures = sides.map(({ of }) => of.document?.futures ?? []) as [Future[], Future[]];
  const pairs = sides[0].of.videos.flatMap((video) => {
    const partner = sides[1].of.videos.find(({ future }) => future === video.future);
    return video.future !== null && partner ? [{ number: video.future, files: [video, partner] }] : [];
  });
  const seconds = (decisions: number) => (decisions * frames_per_action) / pictures_per_second;
  const lengths = pairs.flatMap(({ number }) =>
    futures.map((side) => ({ seconds: seconds(side[number]?.decisions ?? 0) })),
  );
  return (
    <section className={classes.futures} aria-label="Futures side by side">
      <Transport replays={lengths} playback={playback} noun="futures" />
      <ul className={classes.pairs}>
        {pairs.map(({ number, files }) => (
          <li key={number}>
            <Title order={4} size="sm" mb={4}>
              Future {number + 1}
            </Title>
            <div className={classes.pair}>
              {files.map(({ file_id }, side) => {
                const { role = "", action = "" } = sides[side] ?? {};
                const future = futures[side]?.[number];
                return (
                  <figure key={file_id} data-side={role}>
                    <FutureVideo
                      ensemble={playback.ensemble}
                      src={fileAddress(file_id)}
                      label={`Future ${number + 1} with ${action}`}
                      pixelated={pixelated}
                    />
                    <figcaption>
                      <span className={classes.side}>
                        {role}: {action}
                      </span>
                      {future && (
                        <Text component="span" size="xs" c="dimmed" display="block">
                          {describeEnd(future)}
                        </Text>
                      )}
                    </figcaption>
                  </figure>
                );
              })}
            </div>
          </li>
        ))}
      </ul>
      <Text size="xs" c="dimmed" maw={640}>
        Both videos of a pair have the same random numbers, so they differ only by the action. Three pairs are
        examples; the loss is measured with many more.
      </Text>
    </section>
  );
}

interface FutureVideoProps {
  ensemble: Ensemble;
  src: string;
  label: string;
  pixelated: boolean;
}

function FutureVideo({ ensemble, src, label, pixelated }: FutureVideoProps) {
  const element = useRef<HTMLVideoElement>(null);
  useEffect(() => (element.current ? ensemble.join(element.current) : undefined), [ensemble]);
  return <SilentVideo element={element} src={src} label={label} pixelated={pixelated} />;
}
