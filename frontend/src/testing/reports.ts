import type { Report, ReportSummary } from "@/api/types";

/** A report with one text block. */
export function aReport(changes: Partial<Report> = {}): Report {
  return {
    id: 3,
    title: "Rates",
    project: "Main",
    blocks: [{ kind: "text", markdown: "# Why\nBecause" }],
    version: 1,
    share_token: null,
    may_edit: true,
    created_at: "2026-05-01T10:00:00Z",
    updated_at: "2026-05-01T10:00:00Z",
    ...changes,
  };
}

export function aReportSummary(changes: Partial<ReportSummary> = {}): ReportSummary {
  const { id, title, project, may_edit, created_at, updated_at } = aReport();
  return { id, title, project, may_edit, blocks: 1, shared: false, created_at, updated_at, ...changes };
}
