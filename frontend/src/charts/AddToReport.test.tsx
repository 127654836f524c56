import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import type { ReportBlock } from "@/api/types";
import { renderPage } from "@/testing/render";
import { aReport, aReportSummary } from "@/testing/reports";
import { serve } from "@/testing/server";
import { AddToReport } from "./AddToReport";

const CHART: ReportBlock = { kind: "chart", address: "/api/v1/figures/curves?runs=1", caption: "Return" };

function opened() {
  const onClose = vi.fn();
  renderPage(<AddToReport block={CHART} opened onClose={onClose} />);
  return onClose;
}

describe("Add to report", () => {
  it("appends the block to the report that was changed last", async () => {
    const server = serve({
      "GET /reports": [aReportSummary()],
      "GET /reports/3": aReport({ version: 5 }),
      "PATCH /reports/3": aReport({ version: 6 }),
    });
    const onClose = opened();
    await waitFor(() =>
      expect(screen.getByRole("combobox", { name: "Report" })).toHaveProperty("value", "Rates (3)"),
    );
    await userEvent.click(screen.getByRole("button", { name: "Add" }));
    await waitFor(() => expect(onClose).toHaveBeenCalled());
    expect(server.of("PATCH /reports/3")[0]?.body).toEqual({
      version: 5,
      blocks: [...aReport().blocks, CHART],
    });
    expect(await screen.findByText("Added to the end of the report “Rates”.")).toBeTruthy();
  });

  it("creates a report if there is none", async () => {
    const server = serve({ "GET /reports": [], "POST /reports": aReport() });
    const onClose = opened();
    await waitFor(() =>
      expect(screen.getByRole("button", { name: "Add" })).toHaveProperty("disabled", false),
    );
    await userEvent.click(screen.getByRole("button", { name: "Add" }));
    await waitFor(() => expect(onClose).toHaveBeenCalled());
    expect(server.of("POST /reports")[0]?.body).toEqual({
      title: "New report",
      blocks: [CHART],
      project: "Main",
    });
  });
});
