import { Anchor, Stack, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";
import { checkpointsQuery } from "@/api/checkpoints";
import { diagnosisQuery } from "@/api/diagnosis";
import { metricNamesQuery } from "@/api/metrics";
import { replaysQuery } from "@/api/replays";
import type { Run } from "@/api/types";
import { Figure } from "@/charts/Figure";
import { chartOf, MEAN_RETURN, metricSections, RETURN, returnsFirst } from "@/charts/metrics";
import { useCurveView } from "@/charts/useCurveView";
import { useMetricCatalog } from "@/charts/useMetricCatalog";
import { EmptyState } from "@/ui/EmptyState";
import { short } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { isActive, isReported } from "@/ui/states";
import { ConfigSummary } from "./ConfigSummary";
import { DiagnosisCard } from "./diagnosis/DiagnosisCard";
import { FailureCard } from "./FailureCard";
import { CurveMarks } from "./marks/CurveMarks";
import { NotesCard } from "./NotesCard";
import { AwaitedReplay } from "@/replays/AwaitedReplay";
import { Milestones, useMilestones } from "@/replays/Milestones";
import { ReplayStage } from "@/replays/ReplayStage";
import { newestFirst } from "@/replays/places";
import { RolesCard } from "./RolesCard";
import { RunTimes } from "./RunTimes";
import { StartCard, isStarting } from "./StartCard";
import { SubmissionCard } from "./SubmissionCard";
import { isLearningMetric } from "./systemMetrics";
import { WarningsCard } from "./WarningsCard";
import classes from "./run.module.css";

/** Charts of a run that reports no return. */
const MAIN_CHARTS = 2;

/**
 * Summary of a run: failure, warnings, replays, return, notes and configuration. It waits for the parts whose size
 * depends on the server, so that no part moves another.
 */
export function OverviewTab({ run }: { run: Run }) {
  const needed = [
    useQuery(diagnosisQuery(run.id)),
    useQuery(replaysQuery(run.id)),
    useQuery(checkpointsQuery(run.id)),
  ];
  // A part that asks again after an error must not hide itself.
  if (needed.some(({ isFetched }) => !isFetched))
    return (
      <Text c="dimmed" role="status">
        Loading the overview…
      </Text>
    );
  return <Overview run={run} />;
}

function Overview({ run }: { run: Run }) {
  const starting = isStarting(run);
  // A resumed run keeps its curve.
  const isNew = starting && run.step === 0;
  const learned = useMilestones(run);
  // An imported agent has no curves.
  const isAgent = run.origin === "agent";
  // While a run trains, its newest replay is the most interesting one.
  const hasNewest = !isReported(run) && (isActive(run) || learned.length === 0);
  const job = run.submission && <SubmissionCard run={run} job={run.submission} />;
  return (
    <Stack gap="md">
      <FailureCard run={run} />
      <WarningsCard run={run} />
      <DiagnosisCard run={run} />
      {starting && !isNew && <StartCard run={run} />}
      {learned.length > 0 && <Milestones run={run} shown={learned} />}
      <div className={classes.overview}>
        {isNew ? (
          // What a new run waits for comes first, also on a phone.
          <Stack gap="md">
            <StartCard run={run} />
            {job}
          </Stack>
        ) : isAgent ? (
          <NewestReplay run={run} />
        ) : (
          <MainCharts run={run} />
        )}
        <Stack gap="md" className={classes.side}>
          {hasNewest && <NewestReplay run={run} />}
          <NotesCard run={run} />
        </Stack>
        <Stack gap="md">
          {!isNew && job}
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

/** The return of a run, or the first metrics of a script that names it differently. */
function MainCharts({ run }: { run: Run }) {
  const catalog = useMetricCatalog();
  const [view] = useCurveView();
  const isScript = isReported(run);
  const { data: names = [], isSuccess } = useQuery({ ...metricNamesQuery(run.id), enabled: isScript });
  // A run of Arcadia shows its return, also while it has only other metrics.
  const learning = isScript
    ? metricSections(catalog, names.filter(isLearningMetric(run))).flatMap((section) => section.names)
    : [];
  const [main = RETURN, ...others] = returnsFirst(learning);
  if (isScript && isSuccess && learning.length === 0 && !isActive(run)) {
    return <EmptyState title="No metrics">The script of this run has logged none.</EmptyState>;
  }
  const isReturn = main === RETURN || main === MEAN_RETURN;
  const metrics = isReturn ? [main] : [main, ...others].slice(0, MAIN_CHARTS);
  return (
    <Stack gap="md">
      {metrics.map((metric) => (
        <div key={metric} className={classes.card}>
          <Figure
            runs={[run.id]}
            chart={chartOf(catalog, metric)}
            view={view}
            height={metrics.length > 1 ? 220 : 320}
            overlay={(area) => (
              <CurveMarks run={run} metrics={[metric]} isMain={metric === main} axis={view.x} area={area} />
            )}
          />
        </div>
      ))}
      {isScript && (
        <Anchor component={Link} to={`/runs/${run.id}/curves`} size="sm">
          See all curves
        </Anchor>
      )}
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
          {replays.data ? <AwaitedReplay run={run} /> : "Loading replay…"}
        </Text>
      )}
    </section>
  );
}
