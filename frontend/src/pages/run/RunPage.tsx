import { Anchor, Stack, Tabs, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ComponentType, useEffect, useRef } from "react";
import { Link, useNavigate, useParams } from "react-router";
import { isNotFound } from "@/api/problem";
import { mediaNamesQuery } from "@/api/media";
import { metricNamesQuery } from "@/api/metrics";
import { environmentsQuery } from "@/api/configuration";
import { runQuery } from "@/api/runs";
import type { Run } from "@/api/types";
import { usePageTitle } from "@/ui/usePageTitle";
import { EmptyState } from "@/ui/EmptyState";
import { lazyPart } from "@/ui/lazyPart";
import { MayEdit } from "@/ui/mayEdit";
import { QueryError } from "@/ui/QueryError";
import { hasAgent, isReported } from "@/ui/states";
import { useIsMounted } from "@/ui/useIsMounted";
import { isSystemMetric } from "./systemMetrics";
import { OverviewTab } from "./OverviewTab";
import classes from "./run.module.css";
import { RunHeader } from "./RunHeader";

/** Return a tab whose code is loaded when it is first opened. */
const tab = (load: () => Promise<ComponentType<{ run: Run }>>) => lazyPart(load, LoadingTab);

const ArtifactsTab = tab(() => import("./ArtifactsTab").then((module) => module.ArtifactsTab));
const CheckpointsTab = tab(() => import("./CheckpointsTab").then((module) => module.CheckpointsTab));
const ConfigTab = tab(() => import("./ConfigTab").then((module) => module.ConfigTab));
const CriticTab = tab(() => import("./critic/CriticTab").then((module) => module.CriticTab));
const CurvesTab = tab(() => import("./CurvesTab").then((module) => module.CurvesTab));
const EvaluationsTab = tab(() =>
  import("./evaluations/EvaluationsTab").then((module) => module.EvaluationsTab),
);
const LineageTab = tab(() => import("./LineageTab").then((module) => module.LineageTab));
const LiveTab = tab(() => import("./live/LiveTab").then((module) => module.LiveTab));
const LogTab = tab(() => import("./LogTab").then((module) => module.LogTab));
const MediaTab = tab(() => import("./media/MediaTab").then((module) => module.MediaTab));
const ReplaysPage = tab(() => import("./recordings/ReplaysPage").then((module) => module.ReplaysPage));
const SystemTab = tab(() => import("./CurvesTab").then((module) => module.SystemTab));

function LoadingTab() {
  return (
    <Text c="dimmed" role="status">
      Loading this tab…
    </Text>
  );
}

const TABS: { value: string; label: string; Content: ComponentType<{ run: Run }> }[] = [
  { value: "overview", label: "Overview", Content: OverviewTab },
  { value: "curves", label: "Curves", Content: CurvesTab },
  { value: "media", label: "Media", Content: MediaTab },
  { value: "artifacts", label: "Artifacts", Content: ArtifactsTab },
  { value: "replays", label: "Replays", Content: ReplaysPage },
  { value: "live", label: "Live", Content: LiveTab },
  { value: "checkpoints", label: "Checkpoints", Content: CheckpointsTab },
  { value: "evaluations", label: "Evaluations", Content: EvaluationsTab },
  { value: "critic", label: "Critic", Content: CriticTab },
  { value: "lineage", label: "Lineage", Content: LineageTab },
  { value: "log", label: "Log", Content: LogTab },
  { value: "config", label: "Config", Content: ConfigTab },
  { value: "system", label: "System", Content: SystemTab },
];

/** Tabs about the agent of a run. A reported run has no checkpoint to play with. */
const AGENT_TABS = ["replays", "live", "checkpoints", "evaluations", "critic", "lineage"];

/** Page of one run. The URL names the tab: /runs/12/curves. */
export default function RunPage() {
  const { id = "", tab } = useParams();
  return <LoadRun key={id} id={id} tab={tab} />;
}

function LoadRun({ id, tab }: { id: string; tab: string | undefined }) {
  const navigate = useNavigate();
  const stillHere = useIsMounted();
  const runId = Number(id);
  const isNumber = Number.isInteger(runId);
  const run = useQuery({ ...runQuery(runId), enabled: isNumber });
  // The shape of its pictures, so that they do not move what is below.
  const shapes = useQuery({ ...environmentsQuery, enabled: isNumber });
  usePageTitle(run.data?.name ?? `Run ${id}`);

  // The cache keeps the data of a purged run.
  const isGone = !isNumber || isNotFound(run.error);
  if (run.data && !isGone && shapes.isFetched) {
    const leave = () => {
      if (stillHere()) void navigate("/");
    };
    return <LoadedRun run={run.data} tab={tab} onPurged={leave} />;
  }
  if (isGone) {
    return (
      <EmptyState title={`There is no run ${id}`} alone>
        {run.data
          ? "It was purged, or your role in its project has ended."
          : "It may have been purged, or you have no access to its project."}{" "}
        <Anchor component={Link} to="/">
          See all runs
        </Anchor>
      </EmptyState>
    );
  }
  return (
    <Stack className={classes.sheet} gap="md">
      <Title order={1}>Run {id}</Title>
      {run.isError ? (
        <QueryError error={run.error} retry={() => void run.refetch()} />
      ) : (
        <Text c="dimmed" role="status">
          Loading run {id}…
        </Text>
      )}
    </Stack>
  );
}

/** Return the tabs that have content, and the one that the URL names. */
function useTabs(run: Run, open: string | undefined) {
  const { data: names = [] } = useQuery(metricNamesQuery(run.id));
  const { data: media = [] } = useQuery({ ...mediaNamesQuery(run.id), enabled: isReported(run) });
  const isSystem = isSystemMetric(run);
  const isEmpty = (value: string) =>
    (value === "system" && !names.some(isSystem)) ||
    (value === "media" && media.length === 0) ||
    (value === "artifacts" && !isReported(run)) ||
    (value === "curves" && run.origin === "agent") ||
    (!hasAgent(run) && AGENT_TABS.includes(value));
  return TABS.filter(({ value }) => value === open || !isEmpty(value));
}

interface LoadedRunProps {
  run: Run;
  tab: string | undefined;
  onPurged: () => void;
}

function LoadedRun({ run, tab, onPurged }: LoadedRunProps) {
  const navigate = useNavigate();
  const tabs = useTabs(run, tab);
  const current = tabs.find(({ value }) => value === tab)?.value ?? "overview";
  const open = (value: string | null) =>
    void navigate(
      { pathname: `/runs/${run.id}/${value ?? ""}`, search: window.location.search },
      { replace: true },
    );
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // On a phone, the selected tab may be out of view.
    const selectedTab = list.current?.querySelector("[aria-selected=true]");
    selectedTab?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [current]);
  return (
    <MayEdit value={run.actions.edit === null}>
      <Stack gap="md" className={classes.sheet}>
        <RunHeader
          run={run}
          isFailureBelow={run.failure !== null && current === "overview"}
          onPurged={onPurged}
        />
        <Tabs value={current} onChange={open} keepMounted={false}>
          <Tabs.List ref={list} style={{ flexWrap: "nowrap", overflowX: "auto", overflowY: "hidden" }}>
            {tabs.map(({ value, label }) => (
              <Tabs.Tab key={value} value={value}>
                {label}
              </Tabs.Tab>
            ))}
          </Tabs.List>
          {tabs.map(({ value, Content }) => (
            <Tabs.Panel key={value} value={value} pt="md">
              <Content run={run} />
            </Tabs.Panel>
          ))}
        </Tabs>
      </Stack>
    </MayEdit>
  );
}
