import { Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { useSearchParams } from "react-router";
import { joinNames } from "@/api/nameList";
import { ApiError } from "@/api/problem";
import { useMayWrite } from "@/api/projects";
import { facetsQuery, RUN_PAGE_SIZE } from "@/api/runs";
import type { ListedRun } from "@/api/types";
import { workersQuery } from "@/api/workers";
import { useVisible } from "@/charts/useVisible";
import { useCurrentProject } from "@/ui/currentProject";
import { EmptyState } from "@/ui/EmptyState";
import { exact, plural } from "@/ui/format";
import { lazyPart } from "@/ui/lazyPart";
import { QueryError } from "@/ui/QueryError";
import { usePageTitle } from "@/ui/usePageTitle";
import { ChartsButton, WithCharts } from "./ChartPanel";
import { valuesOfColumns } from "./columns";
import { CurveChoiceContext } from "./CurveChoice";
import { Notices } from "./Notices";
import { RunFilters } from "./RunFilters";
import { ColumnMenu, DensityButton, GroupBy, ImportButton, ViewsMenu } from "./RunsToolbar";
import { RunTable } from "./RunTable";
import { useCharts } from "./useCharts";
import { RowDensity, useDensity } from "./useDensity";
import { useImports } from "./useImports";
import { type RunRows, useRows, useRunList } from "./useRunList";
import { useColumns, usePinnedRuns, useRunsView } from "./useRunsView";
import { useRunTable } from "./useRunTable";
import { useSavedViews } from "./useSavedViews";
import {
  clearFilters,
  isFiltered,
  replaceView,
  runsOnTop,
  type RunsView,
  toFailuresQuery,
  toListQuery,
} from "./view";
import classes from "./runs.module.css";

const BulkBar = lazyPart(() => import("./BulkBar").then((module) => module.BulkBar));
const BulkProgress = lazyPart(() => import("./BulkProgress").then((module) => module.BulkProgress));
const FailureGroups = lazyPart(() => import("./FailureGroups").then((module) => module.FailureGroups));
const FirstRun = lazyPart(() => import("./FirstRun").then((module) => module.FirstRun));
const FirstRunOfProject = lazyPart(() =>
  import("./FirstRunOfProject").then((module) => module.FirstRunOfProject),
);
const GroupTable = lazyPart(() => import("./GroupTable").then((module) => module.GroupTable));
const RunCards = lazyPart(() => import("./RunCards").then((module) => module.RunCards));

const NONE: ListedRun[] = [];

/** The list of the runs of the current project or of all, with live updates. */
export default function RunsPage() {
  usePageTitle("Runs");
  const { view: asked, change, ...chosen } = useRunsView();
  // A wrong filter of an address selects nothing. Its field says what is wrong.
  const [wrongFilter, setWrongFilter] = useState("");
  const view = useMemo(
    () => (asked.filter !== "" && asked.filter === wrongFilter ? { ...asked, filter: "" } : asked),
    [asked, wrongFilter],
  );
  const [params] = useSearchParams();
  const project = useCurrentProject();
  const { columns, choose, reset } = useColumns(view, project, chosen.columns, chosen.chooseColumns);
  const request = toListQuery(view, project, valuesOfColumns(columns));
  const list = useRunList(request);
  if (view.filter !== "" && isFilterError(list.query.error)) setWrongFilter(view.filter);
  const [density, setDensity] = useDensity();
  const imports = useImports(project);
  const onTop = useMemo(() => runsOnTop(view), [view]);
  const rows = useRows(list, usePinnedRuns(list.pages, onTop, request));
  const matches = toFailuresQuery(view, project);
  const model = useRunTable(rows, columns, JSON.stringify(matches));
  const listed = list.query.data?.items ?? NONE;
  const charts = useCharts(view, listed, rows.loaded, change);
  const saved = useSavedViews(project, {
    columns: joinNames(chosen.columns),
    charts: joinNames(charts.metrics),
  });
  const narrow = useMediaQuery("(max-width: 48em)", window.matchMedia("(max-width: 48em)").matches);
  const isListEmpty = list.query.data && list.total === 0 && !list.query.isPlaceholderData;
  const hasNoRuns = Boolean(isListEmpty) && !isFiltered(view) && !view.archived;
  const mayWrite = useMayWrite();
  const [isStarting, setStarting] = useState(false);
  const archive = useQuery({ ...facetsQuery(true, project), enabled: hasNoRuns });
  const areAllArchived = hasNoRuns && (archive.data?.state.length ?? 0) > 0;

  // Notices move the list, so it waits until they are known.
  const workers = useQuery(workersQuery);
  // The key keeps the notices mounted in both layouts, so that a button is not replaced while it is pressed.
  const notices = <Notices key="notices" />;
  // The list has a new run before the page of the run is open.
  if (isStarting || (hasNoRuns && !archive.isLoading && !areAllArchived)) {
    return (
      <Stack className={classes.page} gap="md" {...imports.dropTarget}>
        {notices}
        {project === null && mayWrite ? (
          <FirstRun onStarting={setStarting}>
            <ImportButton imports={imports} />
          </FirstRun>
        ) : (
          <FirstRunOfProject project={project}>
            <ImportButton imports={imports} />
          </FirstRunOfProject>
        )}
      </Stack>
    );
  }
  return (
    <Stack className={classes.page} gap="md" {...imports.dropTarget}>
      <Group justify="space-between">
        <Group gap="sm" align="baseline">
          <Title order={1}>{view.archived ? "Archived runs" : "Runs"}</Title>
          <Text size="sm" c="dimmed" role="status">
            {list.query.data &&
              plural(list.total, isFiltered(view) ? "match" : "run", isFiltered(view) ? "matches" : "runs")}
          </Text>
        </Group>
        <Group gap="xs">
          <ImportButton imports={imports} />
          <ViewsMenu saved={saved} project={project} />
          <GroupBy view={view} project={project} onChange={(by) => change({ by })} />
          <ChartsButton charts={charts} />
          <DensityButton density={density} onChange={setDensity} />
          <ColumnMenu view={view} project={project} chosen={columns} onChange={choose} onReset={reset} />
        </Group>
      </Group>
      {notices}
      {workers.isFetched && <RunFilters view={asked} runs={listed} onChange={change} />}
      {list.query.isError && listed.length === 0 && (
        <QueryError error={list.query.error} retry={() => void list.query.refetch()} />
      )}
      {(list.query.isPending || archive.isLoading || !workers.isFetched) && <LoadingRows />}
      {areAllArchived && (
        <EmptyState title="All runs are archived">Turn on “Archived” above to see them.</EmptyState>
      )}
      {list.query.data && listed.length === 0 && !hasNoRuns && <NoRuns view={view} onChange={change} />}
      <FailureGroups view={view} onChoose={(text) => change({ state: ["failed"], text })} />
      {listed.length > 0 && workers.isFetched && (
        <WithCharts charts={charts} view={view} project={project} total={list.total}>
          <CurveChoiceContext value={view.by.length > 0 ? null : charts.choice}>
            {view.by.length > 0 ? (
              <GroupTable
                view={view}
                project={project}
                baseline={charts.choice.baseline}
                onBaseline={charts.choice.setBaseline}
                onSort={(groupSort) => change({ groupSort })}
              />
            ) : narrow ? (
              <RunCards model={model} />
            ) : (
              <RowDensity value={density}>
                <RunTable
                  model={model}
                  columns={columns}
                  onColumns={choose}
                  sort={view.sort}
                  onSort={(sort) => change({ sort })}
                />
              </RowDensity>
            )}
          </CurveChoiceContext>
          {view.by.length === 0 && narrow && rows.loaded.length < rows.count && <LoadMore rows={rows} />}
        </WithCharts>
      )}
      <BulkProgress />
      {model.count > 0 && (
        <BulkBar
          key={model.excluded ? "matches" : "runs"}
          selection={model}
          archived={view.archived}
          matches={matches}
          total={list.total}
          groupsAddress={`?${replaceView(params, { ...view, by: ["method", "env"] }).toString()}`}
        />
      )}
    </Stack>
  );
}

const isFilterError = (error: unknown) => error instanceof ApiError && error.forField("filter") !== undefined;

/** Button that loads the next page of cards when it scrolls into view. After an error it waits for a click. */
function LoadMore({ rows }: { rows: RunRows }) {
  const button = useRef<HTMLButtonElement>(null);
  const visible = useVisible(button);
  const { count, show, retry } = rows;
  const shown = rows.loaded.length;
  const load = () => (retry ? retry() : show(0, shown + RUN_PAGE_SIZE));
  const shouldLoad = visible && retry === undefined;
  useEffect(() => {
    if (shouldLoad) show(0, shown + 1);
  }, [shouldLoad, show, shown]);
  return (
    <Button ref={button} variant="default" mx="auto" onClick={load}>
      Load more ({exact(shown)} of {exact(count)} shown)
    </Button>
  );
}

function LoadingRows() {
  return (
    <Stack gap="xs" aria-label="Loading runs…" role="status">
      {Array.from({ length: 6 }, (_, row) => (
        <Skeleton key={row} height={48} radius="sm" />
      ))}
    </Stack>
  );
}

function NoRuns({ view, onChange }: { view: RunsView; onChange: (view: RunsView) => void }) {
  if (!isFiltered(view)) return <EmptyState title="No archived runs">Archived runs appear here.</EmptyState>;
  return (
    <EmptyState title="No matching runs">
      <Button variant="default" mt="xs" onClick={() => onChange(clearFilters(view))}>
        Clear all filters
      </Button>
    </EmptyState>
  );
}
