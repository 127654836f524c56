import { queryOptions, useIsMutating } from "@tanstack/react-query";
import { address, call, fileAddress } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import { figureKeys, followFigure, runsAt } from "./figures";
import { byProject } from "./projectFilter";
import { ApiError } from "./problem";
import { live, ofAny } from "./topics";
import type { BlockContent, Figure, Report, ReportBlock, StoredBlock } from "./types";

/** Refetch interval of content that no live event reports. */
const REFETCH_MS = 10_000;

export const reportKeys = {
  list: ["reports", "list"] as const,
  listOf: (project: string | null) => [...reportKeys.list, { project }] as const,
  detail: (id: number) => ["reports", id] as const,
  shared: (token: string) => ["shared", token] as const,
  block: (source: BlockSource, block: ReportBlock, place: number) =>
    ["report-block", ...source.key, block, source.signedIn ? null : place] as const,
  chart: (source: BlockSource, figure: string, place: number) =>
    figureKeys.report([...source.key, figure, source.signedIn ? null : place], runsAt(figure)),
  saving: (id: number) => ["save-report", id] as const,
};

/** Reports of a project, or of all. */
export const reportsQuery = (project: string | null = null) =>
  apiQuery(
    reportKeys.listOf(project),
    "/api/v1/reports",
    { query: byProject(project) },
    live(ofAny("projects.changed")),
  );

export const reportQuery = (id: number) =>
  apiQuery(
    reportKeys.detail(id),
    "/api/v1/reports/{report_id}",
    { path: { report_id: id } },
    live(ofAny("projects.changed")),
  );

export const sharedReportQuery = (token: string) =>
  apiQuery(
    reportKeys.shared(token),
    "/api/v1/shared/{token}",
    { path: { token } },
    { refetchInterval: REFETCH_MS },
  );

/** API access of a report's blocks. Signed-in users fetch by block, readers of a shared link by position. */
export interface BlockSource {
  key: unknown[];
  content: (block: ReportBlock, place: number, signal: AbortSignal) => Promise<BlockContent>;
  file: (id: number) => string;
  /** True if the reader may open the run of a replay. */
  signedIn: boolean;
}

export const SIGNED_IN_SOURCE: BlockSource = {
  key: [],
  content: (block, _, signal) => call("post", "/api/v1/reports/preview", { body: { block }, signal }),
  file: fileAddress,
  signedIn: true,
};

export const sharedSource = (token: string, version: number): BlockSource => ({
  key: [token, version],
  content: (_, place, signal) =>
    call("get", "/api/v1/shared/{token}/blocks/{position}", {
      params: { path: { token, position: place } },
      signal,
    }),
  file: (id) => address(`/shared/${token}/files/${id}`),
  signedIn: false,
});

/** Current content of a table or a replay. */
export const blockQuery = (source: BlockSource, block: ReportBlock, place: number) =>
  queryOptions({
    queryKey: reportKeys.block(source, block, place),
    queryFn: ({ signal }): Promise<BlockContent> => source.content(block, place, signal),
    refetchInterval: REFETCH_MS,
  });

/** A chart's figure, and a message about missing runs. */
export interface Chart {
  figure: Figure;
  missing: string | null;
}

/** Current content of a chart. Live events of its runs refresh it like other figures. */
export const chartQuery = (source: BlockSource, block: ReportBlock & { kind: "chart" }, place: number) =>
  queryOptions({
    queryKey: reportKeys.chart(source, block.address, place),
    // This address requires a session, so readers of a shared link do not get it.
    ...(source.signedIn && followFigure(block.address, runsAt(block.address))),
    queryFn: async ({ signal }): Promise<Chart> => {
      const { figure, missing, problem } = await source.content({ ...block, caption: "" }, place, signal);
      if (!figure) throw new ApiError(422, { detail: problem ?? "This chart has no figure." });
      return { figure, missing: missing ?? null };
    },
    refetchInterval: REFETCH_MS,
  });

export interface ReportContent {
  title: string;
  blocks: StoredBlock[];
}

export function useCreateReport() {
  return useApiMutation(
    (body: ReportContent & { project?: string }) => call("post", "/api/v1/reports", { body }),
    {
      onDone: (client, report) => client.setQueryData(reportKeys.detail(report.id), report),
      refetch: [reportKeys.list],
    },
  );
}

type Change = ReportContent & { version: number };

/** Return true while a change of a report is being saved, even if it was made on another page. */
export const useIsSaving = (id: number) => useIsMutating({ mutationKey: reportKeys.saving(id) }) > 0;

/** Save a report. The page shows errors itself. `onSaved` is called even if the user has left the page. */
export function useSaveReport(id: number, onSaved: (report: Report, change: Change) => void) {
  return useApiMutation(
    (body: Change) =>
      call("patch", "/api/v1/reports/{report_id}", { params: { path: { report_id: id } }, body }),
    {
      mutationKey: reportKeys.saving(id),
      ownErrors: true,
      onDone: async (client, report, change) => {
        onSaved(report, change);
        // A response that is still in flight may hold the report before this change.
        await client.cancelQueries({ queryKey: reportKeys.detail(id) });
        client.setQueryData(reportKeys.detail(id), report);
        void client.invalidateQueries({ queryKey: reportKeys.list });
      },
    },
  );
}

/** Append a block to the current version of a report. */
export function useAddBlock() {
  return useApiMutation(
    async ({ id, block }: { id: number; block: ReportBlock }): Promise<Report> => {
      const params = { path: { report_id: id } };
      const { version, blocks } = await call("get", "/api/v1/reports/{report_id}", { params });
      const body = { version, blocks: [...blocks, block] };
      return call("patch", "/api/v1/reports/{report_id}", { params, body });
    },
    {
      onDone: (client, report) => client.setQueryData(reportKeys.detail(report.id), report),
      refetch: [reportKeys.list],
    },
  );
}

export function useDeleteReport(id: number) {
  return useApiMutation(
    () => call("delete", "/api/v1/reports/{report_id}", { params: { path: { report_id: id } } }),
    { refetch: [reportKeys.list] },
  );
}

/** Create or revoke the read-only link. */
export function useShareReport(id: number) {
  return useApiMutation(
    (shared: boolean) =>
      call(shared ? "post" : "delete", "/api/v1/reports/{report_id}/share", {
        params: { path: { report_id: id } },
      }),
    {
      onDone: (client, report) => {
        client.setQueryData(reportKeys.detail(id), report);
        void client.invalidateQueries({ queryKey: reportKeys.list });
      },
    },
  );
}
