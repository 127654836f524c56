import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { UsageTable } from "@/api/types";
import { renderPage } from "@/testing/render";
import { type Asked, refusal, serve } from "@/testing/server";
import { drawMonths, formatHours, totalsOf } from "./hours";
import UsagePage from "./UsagePage";

const NOTHING = {
  month: null,
  person_id: null,
  person: null,
  project_id: null,
  project: null,
  study_id: null,
};
const row = (month: string, project: string | null, core_hours: number, gpu_hours = 0) => ({
  ...NOTHING,
  study: null,
  kind: null,
  month,
  project,
  core_hours,
  gpu_hours,
  attempts: 1,
});
const TABLE: UsageTable = {
  groups: ["month", "project"],
  rows: [row("2026-11", "Pong", 30, 2), row("2026-12", "Pong", 100.4), row("2026-12", null, 7.25)],
  core_hours: 137.65,
  gpu_hours: 2,
};

const NO_CAPS = { "GET /caps": [], "GET /account": { is_administrator: false } };

describe("the usage", () => {
  it("is shown by project, with sums over all months", async () => {
    serve({ "GET /usage": TABLE, ...NO_CAPS });
    renderPage(<UsagePage />);
    expect(await screen.findByText("138 core hours and 2 GPU hours, with work that still runs")).toBeTruthy();
    const rows = within(screen.getByRole("table")).getAllByRole("row").slice(1);
    expect(rows.map(({ textContent }) => textContent)).toEqual(["Pong1302", "Deleted or hidden project7.30"]);
    const file = screen.getByRole("link", { name: "Download CSV" }).getAttribute("href");
    expect(file).toBe("/api/v1/export/usage.csv?by=month&by=project");
  });

  it("is grouped and limited to a time, whose last day counts", async () => {
    const server = serve({
      "GET /usage": ({ query }: Asked) => ({ ...TABLE, groups: query.getAll("by") }),
      ...NO_CAPS,
    });
    renderPage(<UsagePage />);
    await userEvent.click(await screen.findByRole("radio", { name: "People" }));
    await userEvent.type(screen.getByLabelText("From"), "2026-11-01");
    await userEvent.type(screen.getByLabelText("To"), "2026-11-30");
    await waitFor(() => {
      const last = server.of("GET /usage").at(-1)?.query;
      expect([last?.getAll("by"), last?.get("from"), last?.get("to")]).toEqual([
        ["month", "person"],
        "2026-11-01T00:00:00.000Z",
        "2026-12-01T00:00:00.000Z",
      ]);
    });
  });

  it("says that there is none, or that it cannot be read", async () => {
    let answers = 0;
    serve({
      "GET /usage": () =>
        answers++ === 0 ? refusal(500, "The database is locked.") : { ...TABLE, rows: [], core_hours: 0 },
      ...NO_CAPS,
    });
    renderPage(<UsagePage />);
    expect(await screen.findByText("The database is locked.")).toBeTruthy();
    await userEvent.click(screen.getByText("Try again"));
    expect(await screen.findByText("No use in this time")).toBeTruthy();
  });
});

describe("hours", () => {
  it("are drawn as one bar per month, with the smallest groups together", () => {
    const rows = Array.from({ length: 10 }, (_, at) => row("2026-12", `Project ${at}`, 10 - at));
    const figure = drawMonths(
      { ...TABLE, rows: [...rows, row("2026-11", "Project 0", 1)] },
      "project",
      "core_hours",
    );
    const traces = figure.data as { name: string; x: string[]; y: number[] }[];
    expect(traces.map(({ name }) => name)).toEqual([
      ...Array.from({ length: 8 }, (_, at) => `Project ${at}`),
      "Others",
    ]);
    expect([traces[0]?.x, traces[0]?.y, traces[8]?.y]).toEqual([
      ["2026-11", "2026-12"],
      [1, 10],
      [0, 3],
    ]);
  });

  it("are not drawn where there are none", () => {
    expect(drawMonths({ ...TABLE, rows: [row("2026-12", "Pong", 3)] }, "project", "gpu_hours").data).toEqual(
      [],
    );
  });

  it("are added by group", () => {
    expect(totalsOf(TABLE, "project").map(({ name, core_hours }) => [name, core_hours])).toEqual([
      ["Pong", 130.4],
      ["Deleted or hidden project", 7.25],
    ]);
    expect(["0", "0.015", "7.3", "1,234"]).toEqual([0, 0.0148, 7.25, 1_234.4].map(formatHours));
  });
});

describe("the caps", () => {
  const CAP = {
    kind: "project",
    id: 1,
    name: "Pong",
    max_runs: 2,
    runs: 2,
    core_hours: null,
    used_core_hours: 3,
    gpu_hours: 100,
    used_gpu_hours: 85,
  };

  it("are bars of what is used", async () => {
    serve({ "GET /usage": TABLE, ...NO_CAPS, "GET /caps": [CAP] });
    renderPage(<UsagePage />);
    expect(await screen.findByText("Project Pong")).toBeTruthy();
    const bars = screen.getAllByRole("progressbar").map((bar) => bar.getAttribute("aria-label"));
    expect(bars).toEqual(["Runs now: 2 of 2", "GPU hours this month: 85 of 100"]);
    expect(screen.queryByRole("button", { name: "Set a cap" })).toBeNull();
  });

  it("are changed by administrators, who may remove limits", async () => {
    const server = serve({
      "GET /usage": TABLE,
      "GET /account": { is_administrator: true },
      "GET /caps": [CAP],
      "PUT /caps/projects/1": [CAP],
    });
    renderPage(<UsagePage />);
    await userEvent.click(await screen.findByRole("button", { name: "Change" }));
    const dialog = await screen.findByRole("dialog", { name: "Change the cap of Pong" });
    await userEvent.clear(within(dialog).getByLabelText("Runs at once"));
    const hours = within(dialog).getByLabelText("GPU hours a month");
    await userEvent.clear(hours);
    await userEvent.type(hours, "many");
    expect(within(dialog).getByText("Enter a number from 0, or nothing.")).toBeTruthy();
    await userEvent.clear(hours);
    await userEvent.type(hours, "120.5");
    await userEvent.click(within(dialog).getByRole("button", { name: "Save" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    const wanted = { max_runs: null, core_hours: null, gpu_hours: 120.5 };
    expect(server.of("PUT /caps/projects/1").map(({ body }) => body)).toEqual([wanted]);
  });
});
