import { ActionIcon, Button, Group, Text, Title } from "@mantine/core";
import { IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState, type ComponentType } from "react";
import { fileAddress } from "@/api/client";
import { keptGamesOfReplayQuery, keptGamesQuery, useDeleteKeptGame } from "@/api/liveGames";
import { useCreateStartSet } from "@/api/startSets";
import type { KeptGame } from "@/api/types";
import { BlockableButton } from "@/ui/BlockableButton";
import { ConfirmModal } from "@/ui/ConfirmModal";
import { duration, exact, percent, plural } from "@/ui/format";
import { MayEdit } from "@/ui/mayEdit";
import { notifyDone } from "@/ui/notify";
import { TimeAgo } from "@/ui/Quantity";
import { Reason } from "@/ui/Reason";
import sheet from "@/ui/sheet.module.css";
import classes from "./stage.module.css";

const FRAMES_PER_SECOND = 60;
const ENDED = {
  over: "played to the end",
  "cut off": "stopped at the time limit",
  unfinished: "kept before it ended",
};

/** Review of a kept game. `show` shows a moment of its video, as a share of its length. */
type KeptReview = ComponentType<{ kept: KeptGame; show: (share: number) => void }>;

/** Kept games of one environment. Renders nothing if there are none. */
export function KeptGames({ env, Review }: { env: string; Review: KeptReview }) {
  const { data = [] } = useQuery(keptGamesQuery(env));
  return <KeptCard title="Kept games" games={data} Review={Review} />;
}

/** Kept games that continue a replay. Renders nothing if there are none. */
export function KeptGamesOfReplay({ replay }: { replay: number }) {
  const { data = [] } = useQuery(keptGamesOfReplayQuery(replay));
  return <KeptCard title="Kept games from this replay" games={data} />;
}

interface KeptListProps {
  games: readonly KeptGame[];
  Review?: KeptReview;
}

function KeptCard({ title, games, Review }: KeptListProps & { title: string }) {
  if (games.length === 0) return null;
  return (
    <section className={sheet.card} aria-label="Kept games">
      <Title order={2}>{title}</Title>
      <KeptList games={games} Review={Review} />
    </section>
  );
}

/** List of kept games, each with its video and actions. */
export function KeptList({ games, Review }: KeptListProps) {
  const [leaving, setLeaving] = useState<KeptGame>();
  return (
    <>
      <ul className={classes.kept}>
        {games.map((kept) => (
          <Kept key={kept.id} kept={kept} Review={Review} onRemove={setLeaving} />
        ))}
      </ul>
      {leaving && <RemoveKept kept={leaving} onClose={() => setLeaving(undefined)} />}
    </>
  );
}

/** The score and length of a kept game. They count from the decision if it continues a replay. */
function Summary({ kept: { continued, score, frames, ended } }: { kept: KeptGame }) {
  if (!continued)
    return (
      <Text size="sm">
        <strong>{plural(Number(score), "point")}</strong> in {duration(frames / FRAMES_PER_SECOND)},{" "}
        {ENDED[ended]}
      </Text>
    );
  const { decision, agent_frames } = continued;
  return (
    <Text size="sm">
      <strong>{plural(Number(continued.score), "point")}</strong> in {plural(continued.frames, "frame")} from
      decision {exact(decision + 1)}, {ENDED[ended]}
      {agent_frames > 0 && `, ${percent(agent_frames / Math.max(1, continued.frames))} played by the agent`}
    </Text>
  );
}

interface KeptProps extends Pick<KeptListProps, "Review"> {
  kept: KeptGame;
  onRemove: (kept: KeptGame) => void;
}

function Kept({ kept, Review, onRemove }: KeptProps) {
  const [watched, setWatched] = useState(false);
  const [reviewed, setReviewed] = useState(false);
  const video = useRef<HTMLVideoElement>(null);
  const showMoment = (share: number) => {
    if (!video.current) return;
    video.current.pause();
    video.current.currentTime = share * (video.current.duration || 0);
  };
  const { mutate, isPending } = useCreateStartSet();
  const name = nameOf(kept);
  const keepStarts = () =>
    mutate(
      { id: kept.id, name },
      { onSuccess: ({ points }) => notifyDone(`${plural(points, "start point")} kept as ${name}`) },
    );
  return (
    <li>
      <Group justify="space-between" gap="xs">
        <div>
          <Summary kept={kept} />
          <Text size="sm" c="dimmed">
            {name} · <TimeAgo time={kept.created_at} />
          </Text>
        </div>
        <Group gap="xs">
          {kept.file_id !== null && (
            <Button size="compact-sm" variant="default" onClick={() => setWatched(!watched)}>
              {watched ? "Close" : "Watch"}
            </Button>
          )}
          {Review && !kept.continued && (
            <Button
              size="compact-sm"
              variant={reviewed ? "light" : "default"}
              aria-expanded={reviewed}
              onClick={() => {
                setReviewed(!reviewed);
                setWatched(!reviewed);
              }}
            >
              Review
            </Button>
          )}
          {!kept.continued && kept.may_edit && (
            <BlockableButton
              size="compact-sm"
              variant="default"
              loading={isPending}
              onClick={keepStarts}
              blocked={kept.why_no_start_points}
            >
              Keep as start points
            </BlockableButton>
          )}
          {kept.may_edit && (
            <ActionIcon aria-label={`Remove ${name}`} onClick={() => onRemove(kept)}>
              <IconTrash size={16} />
            </ActionIcon>
          )}
        </Group>
      </Group>
      {kept.film !== "done" && (
        <>
          <Text size="sm">
            {kept.film === "failed" ? "Its video could not be made." : "Its video is not ready yet."}
          </Text>
          <Reason of={kept} />
        </>
      )}
      {watched && kept.file_id !== null && (
        <video
          ref={video}
          className={`${classes.film} pixelated`}
          src={fileAddress(kept.file_id)}
          poster={kept.poster_file_id === null ? undefined : fileAddress(kept.poster_file_id)}
          aria-label={`Video of ${name}`}
          controls
          autoPlay={!reviewed}
          muted
        />
      )}
      {reviewed && Review && (
        <MayEdit value={kept.may_edit}>
          <Review kept={kept} show={showMoment} />
        </MayEdit>
      )}
    </li>
  );
}

function RemoveKept({ kept, onClose }: { kept: KeptGame; onClose: () => void }) {
  const { mutate, isPending } = useDeleteKeptGame();
  const removeIt = () =>
    mutate(kept.id, { onSuccess: () => notifyDone(`${nameOf(kept)} removed`), onSettled: onClose });
  return (
    <ConfirmModal
      opened
      title="Remove this kept game?"
      action="Remove kept game"
      danger
      busy={isPending}
      onConfirm={removeIt}
      onClose={onClose}
    >
      <Text size="sm">
        This permanently deletes the game, its video and its score. Start points made from it are kept.
      </Text>
    </ConfirmModal>
  );
}

const nameOf = ({ id }: KeptGame) => `Kept game ${id}`;
