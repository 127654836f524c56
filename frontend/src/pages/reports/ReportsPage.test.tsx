import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { aReportSummary } from "@/testing/reports";
import { serve } from "@/testing/server";
import ReportsPage from "./ReportsPage";

it("explains reports if there are none", async () => {
  serve({ "GET /reports": [] });
  renderPage(<ReportsPage />);
  expect(await screen.findByText("No reports yet")).toBeTruthy();
});

it("links to each report", async () => {
  serve({ "GET /reports": [aReportSummary({ shared: true })] });
  renderPage(<ReportsPage />);
  expect((await screen.findByRole("link", { name: "Rates" })).getAttribute("href")).toBe("/reports/3");
  expect(screen.getByText("Shared")).toBeTruthy();
});
