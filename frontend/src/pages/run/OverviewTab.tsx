import { Anchor, Code, Group, Stack, TagsInput, Text, Textarea, Title } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { Link } from "react-router";
import { checkpointsQuery } from "@/api/checkpoints";
import { diagnosisQuery } from "@/api/diagnosis";
import { metricNamesQuery } from "@/api/metrics";
import { replaysQuery } from "@/api/replays";
import { useEditRun } from "@/api/runs";
import type { Run } from "@/api/types";
import { Figure } from "@/charts/Figure";
import { chartOf, MEAN_RETURN, metricSections, RETURN, returnsFirst } from "@/charts/metrics";
import { useCurveView } from "@/charts/useCurveView";
import { useMetricCatalog } from "@/charts/useMetricCatalog";
import { AwaitedReplay } from "@/replays/AwaitedReplay";
import { Milestones, useMilestones } from "@/replays/Milestones";
import { newestFirst } from "@/replays/places";
import { ReplayStage } from "@/replays/ReplayStage";
import { FixButton } from "@/run-actions/FixButton";
import { CopyText } from "@/ui/CopyText";
import { EmptyState } from "@/ui/EmptyState";
import { duration, short } from "@/ui/format";
import { useMayEdit } from "@/ui/mayEdit";
import { tabStorage } from "@/ui/pageStorage";
import { TimeAgo } from "@/ui/Quantity";
import { QueryError } from "@/ui/QueryError";
import { isActive, isReported } from "@/ui/states";
import { normalizeTags } from "@/ui/tags";
import { useNow } from "@/ui/useNow";
import { DiagnosisCard } from "./diagnosis/DiagnosisCard";
import { CurveMarks } from "./marks/CurveMarks";
import { RolesCard } from "./RolesCard";
import { ConfigSummary, RunTimes } from "./RunFacts";
import { SubmissionCard } from "./SubmissionCard";
import { isLearningMetric } from "./systemMetrics";
import warningClasses from "@/ui/Warning.module.css";
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

/** Remove the last line of a traceback if it repeats the message, which is the title of the card. */
function withoutMessage(traceback: string, message: string): string {
  const lines = traceback.trimEnd().split("\n");
  return lines.length > 1 && lines.at(-1)?.endsWith(message) ? lines.slice(0, -1).join("\n") : traceback;
}

/** Why a run failed, with the trainer's message and traceback. */
function FailureCard({ run }: { run: Run }) {
  const { failure } = run;
  if (!failure) return null;
  return (
    <section className={`${classes.card} ${classes.failure}`} role="alert">
      <Group gap="xs" wrap="nowrap" align="flex-start" mb="xs">
        <IconAlertTriangle size={18} aria-hidden style={{ flex: "none" }} />
        <Title order={2}>{failure.message}</Title>
      </Group>
      {failure.traceback && (
        <Code block className={classes.traceback} tabIndex={0}>
          {withoutMessage(failure.traceback, failure.message)}
        </Code>
      )}
      <Group gap="xs" mt="xs">
        <FixButton run={run} />
        {failure.traceback && <CopyText label="Copy traceback" text={failure.traceback} />}
      </Group>
    </section>
  );
}

/** The trainer's warnings: problems that did not end the run. */
export function WarningsCard({ run }: { run: Run }) {
  if (run.warnings.length === 0) return null;
  return (
    <section className={`${classes.card} ${warningClasses.warning}`} role="status" aria-label="Warnings">
      <Group gap="xs" wrap="nowrap" mb="xs">
        <IconAlertTriangle size={18} aria-hidden style={{ flex: "none" }} />
        <Title order={2}>{run.warnings.length === 1 ? "Warning" : "Warnings"}</Title>
      </Group>
      {run.warnings.map((warning, index) => (
        <Text key={index} size="sm" mb={4}>
          {warning}
        </Text>
      ))}
      <Anchor component={Link} to={`/runs/${run.id}/log`} size="sm">
        See the log
      </Anchor>
    </section>
  );
}

type StartingRun = Pick<Run, "state" | "start_steps">;

/** Return true from the queue until the first update. */
function isStarting(run: StartingRun): boolean {
  return isActive(run) && run.start_steps.some((step) => step.ended_at === null);
}

/** Start steps of a run, from the queue to the first update, each with its duration so far. */
function StartCard({ run }: { run: StartingRun }) {
  const now = useNow();
  return (
    <section className={classes.card} aria-label="Start">
      <Title order={2} mb="xs">
        Start
      </Title>
      <ol className={classes.startSteps}>
        {run.start_steps.map(({ name, began_at, ended_at }) => (
          <li key={`${began_at} ${name}`} aria-current={ended_at === null ? "step" : undefined}>
            <span>{name}</span>
            <span className={classes.startTime}>
              {duration(((ended_at ? Date.parse(ended_at) : now) - Date.parse(began_at)) / 1000)}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** Tags and notes, saved on blur. The browser stores unsaved notes. */
function NotesCard({ run }: { run: Run }) {
  const mayEdit = useMayEdit();
  const storageKey = `arcadia-notes-${run.id}`;
  // The unsaved text. Without one, show the run's notes, which another tab may change.
  const [draft, setDraft] = useState(() => tabStorage.read<string>(storageKey));
  const editNotes = useEditRun(run.id, {
    onSaved({ notes }) {
      if (tabStorage.read(storageKey) === notes) tabStorage.forget(storageKey);
      setDraft((now) => (now === notes ? null : now));
    },
  });
  const editTags = useEditRun(run.id);
  // While a change is being saved, add the next tag to the unsaved tags.
  const tags = (editTags.isPending ? editTags.variables.tags : null) ?? run.tags;

  function changeNotes(notes: string) {
    tabStorage.keep(storageKey, notes);
    setDraft(notes);
  }

  function save() {
    if (draft === null) return;
    if (draft === run.notes) {
      tabStorage.forget(storageKey);
      setDraft(null);
    } else if (!editNotes.isPending || editNotes.variables.notes !== draft) {
      editNotes.mutate({ notes: draft });
    }
  }

  // Navigation removes the field without a blur event, so save on unmount.
  const saveOnUnmount = useRef(save);
  useEffect(() => {
    saveOnUnmount.current = save;
  });
  useEffect(() => () => saveOnUnmount.current(), []);

  return (
    <section className={classes.card} aria-label="Tags and notes">
      <Stack gap="xs">
        <Title order={2}>Tags and notes</Title>
        <TagsInput
          aria-label="Tags"
          placeholder={tags.length > 0 ? undefined : mayEdit ? "Add tag" : "No tags"}
          readOnly={!mayEdit}
          value={tags}
          onChange={(chosen) => editTags.mutate({ tags: normalizeTags(chosen) })}
        />
        <Textarea
          aria-label="Notes"
          placeholder={mayEdit ? "Add notes" : "No notes"}
          readOnly={!mayEdit}
          autosize
          minRows={2}
          maxRows={16}
          value={draft ?? run.notes}
          description={editNotes.isPending ? "Saving…" : undefined}
          onChange={(event) => changeNotes(event.currentTarget.value)}
          onBlur={save}
        />
      </Stack>
    </section>
  );
}
