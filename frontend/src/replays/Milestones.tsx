import { Anchor, Group, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { checkpointsQuery } from "@/api/checkpoints";
import { useEnvironmentFamily } from "@/api/configuration";
import { diagnosisQuery } from "@/api/diagnosis";
import { replaysQuery } from "@/api/replays";
import type { Checkpoint, Run } from "@/api/types";
import { useShape } from "@/ui/useShape";
import { Panels, ReplayFacts } from "./Panels";
import { idsOf, inTrainingOrder, type PlayableReplay, spread } from "./places";
import { Transport } from "./Transport";
import { usePlayback } from "./usePlayback";
import classes from "./replays.module.css";

/** The replays of a run that show how its agent learned. Empty while there are too few. */
export function useMilestones(run: Run): Milestone[] {
  const replays = useQuery(replaysQuery(run.id));
  const checkpoints = useQuery(checkpointsQuery(run.id));
  if (!replays.data || !checkpoints.data) return [];
  return milestones(inTrainingOrder(replays.data), checkpoints.data);
}

/** Four replays side by side that start in the same way, from the first checkpoint to the best. */
export function Milestones({ run, shown }: { run: Run; shown: readonly Milestone[] }) {
  const replays = shown.map(({ replay }) => replay);
  const { data: findings = [] } = useQuery(diagnosisQuery(run.id));
  const hasStalled = findings.some(({ rule }) => rule === "return_stalled");
  const ids = idsOf(replays).join(",");
  const playback = usePlayback({ shown: ids });
  const family = useEnvironmentFamily(run.env);
  const shape = useShape(family?.aspect_ratio);
  return (
    <section className={`${classes.card} ${classes.milestones}`} aria-labelledby="milestones">
      <Group justify="space-between" mb="xs">
        <Title order={2} id="milestones">
          {hasStalled ? "Replays over training" : "How this agent learned"}
        </Title>
        <Anchor component={Link} to={`/runs/${run.id}/replays?replays=${ids}`} size="sm">
          Open these replays
        </Anchor>
      </Group>
      <Panels
        replays={replays}
        playback={playback}
        shape={shape}
        pixelated={family?.is_pixel_art ?? false}
        caption={(replay, panel) => (
          <>
            <Text size="sm" fw={600}>
              {shown[panel]?.title}
            </Text>
            <ReplayFacts replay={replay} />
          </>
        )}
      />
      <Transport replays={replays} playback={playback} />
    </section>
  );
}

interface Milestone {
  title: string;
  replay: PlayableReplay;
}

const TITLES = ["First", "Early", "Late"];

/** Return four replays from the first to the one of the best checkpoint, or to the newest. Fewer show nothing. */
export function milestones(
  recorded: readonly PlayableReplay[],
  checkpoints: readonly Checkpoint[],
): Milestone[] {
  // The first replay of each checkpoint. People may have recorded more, which can start differently.
  const inOrder = recorded.filter(({ step }, place) => step !== recorded[place - 1]?.step);
  const best = checkpoints.find((checkpoint) => checkpoint.best);
  const ofBest = inOrder.findLastIndex((replay) => replay.step === best?.step);
  const isBestLast = ofBest >= TITLES.length;
  const end = isBestLast ? ofBest : inOrder.length - 1;
  if (end < TITLES.length) return [];
  const titles = [...TITLES, isBestLast ? "Best" : "Newest"];
  return spread(titles.length, end + 1).flatMap((place, panel) => {
    const [title, replay] = [titles[panel], inOrder[place]];
    return title && replay ? [{ title, replay }] : [];
  });
}
