import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { WarningsCard } from "./OverviewTab";

it("shows every warning of a run and links to its log", async () => {
  const warnings = ["All units of convolution 1 are dead", "The replay of step 5 could not be recorded"];
  renderPage(<WarningsCard run={aRun({ id: 3, warnings })} />);
  const card = await screen.findByRole("status", { name: "Warnings" });
  for (const warning of warnings) expect(card.textContent).toContain(warning);
  expect(screen.getByRole("link", { name: "See the log" }).getAttribute("href")).toBe("/runs/3/log");
});

it("is hidden without warnings", () => {
  renderPage(<WarningsCard run={aRun()} />);
  expect(screen.queryByRole("status", { name: "Warnings" })).toBeNull();
});
