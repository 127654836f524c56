import { Button, Group, Skeleton, Stack, Text, Title } from "@mantine/core";
import { useMediaQuery } from "@mantine/hooks";
import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { useSearchParams } from "react-router";
import { joinNames } from "@/api/nameList";
import { facetsQuery, RUN_PAGE_SIZE, runListQuery } from "@/api/runs";
import { useVisible } from "@/charts/useVisible";
import { usePageTitle } from "@/ui/usePageTitle";
import { useCurrentProject } from "@/ui/currentProject";
import { EmptyState } from "@/ui/EmptyState";
import { exact, plural } from "@/ui/format";
import { lazyPart } from "@/ui/lazyPart";
import { notifyProblem } from "@/ui/notify";
import { QueryError } from "@/ui/QueryError";
import { ChartsButton, WithCharts } from "./ChartPanel";
import { ColumnMenu } from "./ColumnMenu";
import { valuesOfColumns } from "./columns";
import { CurveChoiceContext } from "./CurveChoice";
import { DensityButton } from "./DensityButton";
import { FailureGroups } from "./FailureGroups";
import { GroupBy } from "./GroupBy";
import { ImportButton } from "./ImportButton";
import { Notices } from "./Notices";
import { RunFilters } from "./RunFilters";
import classes from "./runs.module.css";
import { RunTable } from "./RunTable";
import { useCharts } from "./useCharts";
import { useColumns } from "./useColumns";
import { RowDensity, useDensity } from "./useDensity";
import { useImports } from "./useImports";
import { usePinnedRuns } from "./usePinnedRuns";
import { useRunsView } from "./useRunsView";
import { useRunTable } from "./useRunTable";
import { useSavedViews } from "./useSavedViews";
import { isFiltered, toListQuery, clearFilters, replaceView, runsOnTop, type RunsView } from "./view";
import { ViewsMenu } from "./ViewsMenu";

const BulkBar = lazyPart(() => import("./BulkBar").then((module) => module.BulkBar));
const FirstRun = lazyPart(() => import("./FirstRun").then((module) => module.FirstRun));
const FirstRunOfProject = lazyPart(() =>
  import("./FirstRunOfProject").then((module) => module.FirstRunOfProject),
);
const GroupTable = lazyPart(() => import("./GroupTable").then((module) => module.GroupTable));
const RunCards = lazyPart(() => import("./RunCards").then((module) => module.RunCards));

/** The list of the runs of the current project or of all, with live updates. */
export default function RunsPage() {
  usePageTitle("Runs");
  const { view, change, ...chosen } = useRunsView();
  const [params] = useSearchParams();
  const project = useCurrentProject();
  const { columns, choose, reset } = useColumns(view, project, chosen.columns, chosen.chooseColumns);
  const list = useRunList(view, project, columns);
  const [density, setDensity] = useDensity();
  const imports = useImports(project);
  const runs = usePinnedRuns(list.runs, runsOnTop(view), list.request);
  const model = useRunTable(runs, columns);
  const charts = useCharts(view, list.runs, runs, change);
  const saved = useSavedViews(project, {
    columns: joinNames(chosen.columns),
    charts: joinNames(charts.metrics),
  });
  const narrow = useMediaQuery("(max-width: 48em)", window.matchMedia("(max-width: 48em)").matches);
  const isListEmpty = list.query.data && list.total === 0 && !list.query.isPlaceholderData;
  const hasNoRuns = Boolean(isListEmpty) && !isFiltered(view) && !view.archived;
  const archive = useQuery({ ...facetsQuery(true, project), enabled: hasNoRuns });
  const [selectingAll, setSelectingAll] = useState(false);
  const selectAll = () => {
    setSelectingAll(true);
    void list
      .loadAll()
      .then(model.select)
      .catch(notifyProblem)
      .finally(() => setSelectingAll(false));
  };
  const areAllArchived = hasNoRuns && (archive.data?.state.length ?? 0) > 0;

  // The key keeps the notices mounted in both layouts, so that a button is not replaced while it is pressed.
  const notices = <Notices key="notices" />;
  if (hasNoRuns && !archive.isLoading && !areAllArchived) {
    return (
      <Stack className={classes.page} gap="md" {...imports.dropTarget}>
        {notices}
        {project === null ? (
          <FirstRun>
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
      <RunFilters view={view} runs={list.runs} onChange={change} />
      {list.query.isError && list.runs.length === 0 && (
        <QueryError error={list.query.error} retry={() => void list.query.refetch()} />
      )}
      {(list.query.isPending || archive.isLoading) && <LoadingRows />}
      {areAllArchived && (
        <EmptyState title="All runs are archived">Turn on “Archived” above to see them.</EmptyState>
      )}
      {list.query.data && list.runs.length === 0 && !hasNoRuns && <NoRuns view={view} onChange={change} />}
      <FailureGroups view={view} onChoose={(text) => change({ state: ["failed"], text })} />
      {list.runs.length > 0 && (
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
          {view.by.length === 0 && list.query.hasNextPage && (
            <LoadMore query={list.query} shown={list.runs.length} total={list.total} />
          )}
        </WithCharts>
      )}
      {model.selected.length > 0 && (
        <BulkBar
          runs={model.selected}
          archived={view.archived}
          total={list.total}
          groupsAddress={`?${replaceView(params, { ...view, by: ["method", "env"] }).toString()}`}
          selectingAll={selectingAll}
          onSelectAll={selectAll}
          onClear={() => model.select([])}
        />
      )}
    </Stack>
  );
}

function useRunList(view: RunsView, project: string | null, columns: readonly string[]) {
  const request = toListQuery(view, project, valuesOfColumns(columns));
  const options = runListQuery(request);
  const query = useInfiniteQuery(options);
  const client = useQueryClient();
  const pages = query.data?.pages;
  const runs = useMemo(() => {
    // A run may move between pages while they are fetched, so show it only once.
    const byId = new Map((pages ?? []).flatMap((page) => page.items.map((run) => [run.id, run] as const)));
    return [...byId.values()];
  }, [pages]);

  const total = pages?.[0]?.total ?? 0;

  async function loadAll() {
    // Otherwise this would join a running fetch, which loads only the pages shown.
    await client.cancelQueries({ queryKey: options.queryKey });
    const all = await client.fetchInfiniteQuery({
      ...options,
      pages: Math.ceil(total / RUN_PAGE_SIZE),
      staleTime: 0,
    });
    return all.pages.flatMap((page) => page.items);
  }

  return { request, query, runs, total, loadAll };
}

interface LoadMoreProps {
  query: ReturnType<typeof useRunList>["query"];
  shown: number;
  total: number;
}

/** Button that loads the next page when it scrolls into view. After an error it waits for a click. */
function LoadMore({ query, shown, total }: LoadMoreProps) {
  const button = useRef<HTMLButtonElement>(null);
  const visible = useVisible(button);
  const { isFetching, isFetchNextPageError, fetchNextPage } = query;
  const shouldLoad = visible && !isFetching && !isFetchNextPageError;
  useEffect(() => {
    if (shouldLoad) void fetchNextPage();
  }, [shouldLoad, fetchNextPage]);
  return (
    <Button
      ref={button}
      variant="default"
      mx="auto"
      loading={query.isFetchingNextPage}
      onClick={() => void fetchNextPage()}
    >
      Load more ({exact(shown)} of {exact(total)} shown)
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
