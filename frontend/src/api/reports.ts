import { queryOptions, useIsMutating, useMutation, useQueryClient } from "@tanstack/react-query";
import { address, call, fileAddress } from "./client";
import { ApiError } from "./problem";
import { numbersIn } from "./runNumbers";
import type {
  BlockContent,
  Figure,
  Report,
  ReportBlock,
  ReportSummary,
  SharedReport,
  StoredBlock,
} from "./types";

/** How often what a report shows is fetched again where no live stream tells of changes. */
const REFETCH_MS = 10_000;
const LIST = ["reports", "list"];

export const reportsQuery = queryOptions({
  queryKey: LIST,
  queryFn: ({ signal }): Promise<ReportSummary[]> => call("get", "/api/v1/reports", { signal }),
});

export const reportQuery = (id: number) =>
  queryOptions({
    queryKey: ["reports", id],
    queryFn: ({ signal }): Promise<Report> =>
      call("get", "/api/v1/reports/{report_id}", { path: { report_id: id }, signal }),
  });

export const sharedReportQuery = (token: string) =>
  queryOptions({
    queryKey: ["shared", token],
    queryFn: ({ signal }): Promise<SharedReport> =>
      call("get", "/api/v1/shared/{token}", { path: { token }, signal }),
    refetchInterval: REFETCH_MS,
  });

/** Where a page has what a report's blocks show: a user asks for a block, a reader for its place in the report. */
export interface Shelf {
  key: unknown[];
  content: (block: ReportBlock, place: number, signal: AbortSignal) => Promise<BlockContent>;
  file: (id: number) => string;
  /** Whether the reader may open the run of a replay. */
  signedIn: boolean;
}

export const OWN_SHELF: Shelf = {
  key: [],
  content: (block, _, signal) => call("post", "/api/v1/reports/preview", { body: { block }, signal }),
  file: fileAddress,
  signedIn: true,
};

export const sharedShelf = (token: string, version: number): Shelf => ({
  key: [token, version],
  content: (_, place, signal) =>
    call("get", "/api/v1/shared/{token}/blocks/{position}", { path: { token, position: place }, signal }),
  file: (id) => address(`/shared/${token}/files/${id}`),
  signedIn: false,
});

/** What a table or a replay shows now. */
export const blockQuery = (shelf: Shelf, block: ReportBlock, place: number) =>
  queryOptions({
    queryKey: ["report-block", ...shelf.key, block, shelf.signedIn ? null : place],
    queryFn: ({ signal }): Promise<BlockContent> => shelf.content(block, place, signal),
    refetchInterval: REFETCH_MS,
  });

/** A chart's figure, and in words which of its runs it left out. */
export interface Chart {
  figure: Figure;
  missing: string | null;
}

/** What a chart shows now; the live stream has it fetched again with the other figures of its runs. */
export const chartQuery = (shelf: Shelf, block: ReportBlock & { kind: "chart" }, place: number) => {
  const at: unknown[] = [...shelf.key, block.address, shelf.signedIn ? null : place];
  return queryOptions({
    queryKey: ["figure", "report", ...at, { runs: runsAt(block.address) }],
    // Only who is signed in may ask for it there.
    meta: shelf.signedIn ? { figure: block.address } : {},
    queryFn: async ({ signal }): Promise<Chart> => {
      const { figure, missing, problem } = await shelf.content({ ...block, caption: "" }, place, signal);
      if (!figure) throw new ApiError(422, { detail: problem ?? "It has no figure." });
      return { figure, missing: missing ?? null };
    },
    refetchInterval: REFETCH_MS,
  });
};

/** What the address of a figure names, whole or half typed: the figure, and what is asked of it. */
export function partsOf(figure: string): { path: string; asked: URLSearchParams } {
  const [address = "", asked] = figure.split("?");
  return { path: address.replace(/^.*\/api\/v1\//, ""), asked: new URLSearchParams(asked) };
}

/** The runs that the address of a figure names. */
export const runsAt = (figure: string) => numbersIn(partsOf(figure).asked.get("runs") ?? "");

export interface ReportContent {
  title: string;
  blocks: StoredBlock[];
}

export function useCreateReport() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: ReportContent): Promise<Report> => call("post", "/api/v1/reports", { body }),
    onSuccess: (report) => {
      client.setQueryData(["reports", report.id], report);
      return client.invalidateQueries({ queryKey: LIST });
    },
  });
}

type Change = ReportContent & { version: number };

const saveKey = (id: number) => ["save-report", id];

/** Whether a change of a report is on its way, also from a page that has been left. */
export const useIsSaving = (id: number) => useIsMutating({ mutationKey: saveKey(id) }) > 0;

/** Change a report; the page that asks says itself when it is refused. `onSaved` is called though the page be left. */
export function useSaveReport(id: number, onSaved: (report: Report, change: Change) => void) {
  const client = useQueryClient();
  return useMutation({
    mutationKey: saveKey(id),
    mutationFn: (body: Change): Promise<Report> =>
      call("patch", "/api/v1/reports/{report_id}", { path: { report_id: id }, body }),
    meta: { ownErrors: true },
    onSuccess: async (report, change) => {
      onSaved(report, change);
      // An answer that is still on its way may tell of the report before this change.
      await client.cancelQueries({ queryKey: ["reports", id] });
      client.setQueryData(["reports", id], report);
      void client.invalidateQueries({ queryKey: LIST });
    },
  });
}

/** Put a block at the end of a report as it is now. */
export function useAddBlock() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ id, block }: { id: number; block: ReportBlock }): Promise<Report> => {
      const path = { report_id: id };
      const { version, blocks } = await call("get", "/api/v1/reports/{report_id}", { path });
      const body = { version, blocks: [...blocks, block] };
      return call("patch", "/api/v1/reports/{report_id}", { path, body });
    },
    onSuccess: (report) => {
      client.setQueryData(["reports", report.id], report);
      return client.invalidateQueries({ queryKey: LIST });
    },
  });
}

export function useDeleteReport(id: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => call("delete", "/api/v1/reports/{report_id}", { path: { report_id: id } }),
    onSuccess: () => client.invalidateQueries({ queryKey: LIST }),
  });
}

/** Make the read-only link, or have it open nothing any more. */
export function useShareReport(id: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (shared: boolean): Promise<Report> =>
      call(shared ? "post" : "delete", "/api/v1/reports/{report_id}/share", { path: { report_id: id } }),
    onSuccess: (report) => {
      client.setQueryData(["reports", id], report);
      void client.invalidateQueries({ queryKey: LIST });
    },
  });
}
