import { Anchor, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { replaysQuery } from "@/api/replays";
import type { Run } from "@/api/types";
import { Figure } from "@/charts/Figure";
import { chartOf } from "@/charts/metrics";
import { useCurveView } from "@/charts/useCurveView";
import { useMetricCatalog } from "@/charts/useMetricCatalog";
import { short } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { isActive, availabilityText } from "@/ui/states";
import { ConfigSummary } from "./ConfigSummary";
import { FailureCard } from "./FailureCard";
import { NotesCard } from "./NotesCard";
import { ReplayStage } from "@/replays/ReplayStage";
import { newestFirst } from "@/replays/places";
import { RolesCard } from "./RolesCard";
import { RunTimes } from "./RunTimes";
import { StartCard, isStarting } from "./StartCard";
import { WarningsCard } from "./WarningsCard";
import classes from "./run.module.css";

/** Summary of a run: failure, warnings, return, newest replay, notes and configuration. */
export function OverviewTab({ run }: { run: Run }) {
  const catalog = useMetricCatalog();
  const [view] = useCurveView();
  const starting = isStarting(run);
  // A resumed run keeps its curve.
  const isNew = starting && run.step === 0;
  return (
    <Stack gap="md">
      <FailureCard run={run} />
      <WarningsCard run={run} />
      {starting && !isNew && <StartCard run={run} />}
      <div className={classes.overview}>
        {isNew ? (
          <StartCard run={run} />
        ) : (
          <div className={classes.card}>
            <Figure runs={[run.id]} chart={chartOf(catalog, "episode/return")} view={view} height={320} />
          </div>
        )}
        <Stack gap="md" className={classes.side}>
          <NewestReplay run={run} />
          <NotesCard run={run} />
        </Stack>
        <Stack gap="md">
          {run.roles.length > 0 && <RolesCard run={run} />}
          <div className={classes.below}>
            <ConfigSummary run={run} />
            <RunTimes run={run} />
          </div>
        </Stack>
      </div>
    </Stack>
  );
}

function NewestReplay({ run }: { run: Run }) {
  const replays = useQuery(replaysQuery(run.id));
  const [newest] = newestFirst(replays.data ?? []);
  return (
    <section className={classes.card} aria-label="Newest replay">
      <Title order={2} mb="xs">
        Newest replay
      </Title>
      {newest ? (
        <>
          <Text size="sm" c="dimmed" mb="xs">
            Recorded <TimeAgo time={newest.created_at} />
            {run.step > newest.step &&
              `; the run has trained ${short(run.step - newest.step, "steps")} since`}
          </Text>
          <ReplayStage replay={newest} env={run.env} />
          <Anchor component={Link} to={`/runs/${run.id}/replays`} size="sm">
            See all replays
          </Anchor>
        </>
      ) : replays.isError && !replays.data ? (
        <QueryError error={replays.error} retry={() => void replays.refetch()} />
      ) : (
        <Text size="sm" className={classes.noReplay} data-awaited={isActive(run) || undefined}>
          {!replays.data
            ? "Loading replay…"
            : availabilityText(
                run,
                "The first replay is recorded at the first checkpoint, a few seconds after training starts.",
                "This run has no replays.",
              )}
        </Text>
      )}
    </section>
  );
}
