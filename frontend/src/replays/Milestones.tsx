import { Anchor, Group, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { checkpointsQuery } from "@/api/checkpoints";
import { useEnvironmentFamily } from "@/api/configuration";
import { diagnosisQuery } from "@/api/diagnosis";
import { replaysQuery } from "@/api/replays";
import type { Run } from "@/api/types";
import { useShape } from "@/ui/useShape";
import { type Milestone, milestones } from "./milestones";
import { Panels, ReplayFacts } from "./Panels";
import { idsOf, inTrainingOrder } from "./places";
import classes from "./replays.module.css";
import { Transport } from "./Transport";
import { usePlayback } from "./usePlayback";

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
