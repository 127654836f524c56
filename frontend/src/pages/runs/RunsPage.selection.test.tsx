import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { runKeys } from "@/api/runs";
import { bulkServer } from "@/testing/bulk";
import { renderPage } from "@/testing/render";
import { openRuns } from "@/testing/runList";
import { aFinishedRun, aRun, runListOf } from "@/testing/runs";
import { type Asked, refusal } from "@/testing/server";
import RunsPage from "./RunsPage";

const TWO = [aRun({ id: 1, name: "one" }), aRun({ id: 2, name: "two" })];
const show = () => renderPage(<RunsPage />);

describe("a selection of runs", () => {
  it("pauses the selected runs, and deselects runs that are no longer listed", async () => {
    const server = openRuns({ runs: TWO }, bulkServer());
    const { client } = show();
    await userEvent.click(await screen.findByLabelText("Select one"));
    await userEvent.click(await screen.findByText("Pause 1"));
    await screen.findByText("Run 1 pausing.");
    expect(server.of("POST /bulk-actions").map(({ body }) => body)).toEqual([
      { action: "pause", ids: [1], tags: [], exclude: [] },
    ]);
    vi.mocked(globalThis.fetch).mockImplementation(() =>
      Promise.resolve(Response.json(runListOf(TWO.slice(1)))),
    );
    await client.invalidateQueries({ queryKey: runKeys.lists });
    await waitFor(() => expect(screen.queryByText("1 run selected")).toBeNull());
  });

  const MANY = Array.from({ length: 250 }, (_, at) =>
    aFinishedRun({ id: 250 - at, name: `run ${250 - at}` }),
  );

  /** A server that lists 250 runs in pages, of which 20 are still running. */
  const serveMany = (more: Record<string, object> = {}) =>
    openRuns(
      {},
      {
        "GET /runs": ({ query }: Asked) => {
          const offset = Number(query.get("offset") ?? 0);
          return runListOf(MANY.slice(offset, offset + 100), { total: MANY.length });
        },
        "GET /run-actions": {
          runs: 250,
          newest: 250,
          actions: {
            ...Object.fromEntries(
              ["stop", "pause", "resume", "restore", "purge"].map((action) => [
                action,
                { allowed: 0, refused: [] },
              ]),
            ),
            edit: { allowed: 250, refused: [] },
            archive: { allowed: 230, refused: [{ reason: "This run is still running.", runs: 20 }] },
          },
        },
        ...more,
      },
    );
  const progress = (fields: object) => ({
    ...{
      id: 3,
      action: "archive",
      tags: [],
      project: null,
      state: "running",
      total: 249,
      done: 0,
      skipped: 0,
    },
    ...{ created_at: "2026-01-02T00:00:00Z", finished_at: null, ...fields },
  });

  it("acts on all matches without loading them, except those that are deselected", async () => {
    let started = false;
    const server = serveMany({
      "GET /bulk-actions": () => (started ? [progress({ done: 100 })] : []),
      "POST /bulk-actions": () => {
        started = true;
        return Response.json(progress({}), { status: 201 });
      },
    });
    show();
    fireEvent.click(await screen.findByLabelText("Select run 250"));
    fireEvent.click(await screen.findByText("Select all 250 matches"));
    await screen.findByText("All 250 runs selected");
    fireEvent.click(screen.getByLabelText("Select run 249"));
    await screen.findByText("249 runs selected");
    fireEvent.click(await screen.findByRole("button", { name: "Archive 229" }));
    const dialog = await screen.findByRole("dialog", { name: "Archive 229 runs?" });
    expect(dialog.textContent).toContain("20 runs: This run is still running.");
    fireEvent.click(within(dialog).getByRole("button", { name: "Archive 229 runs" }));
    await screen.findByText(": 100 done", { exact: false });
    const [request] = server.of("POST /bulk-actions");
    expect(request?.query.toString()).toBe("archived=false");
    expect(request?.body).toEqual({ action: "archive", tags: [], exclude: [249], up_to: 250 });
    expect(screen.queryByText("249 runs selected")).toBeNull();
    expect(server.of("GET /runs").every(({ query }) => Number(query.get("offset") ?? 0) < 200)).toBe(true);
  });

  it("says why an action on all matches could not be started, and keeps the selection", async () => {
    serveMany({ "POST /bulk-actions": refusal(409, "20 bulk actions are in progress.") });
    show();
    fireEvent.click(await screen.findByLabelText("Select all runs"));
    fireEvent.click(await screen.findByRole("button", { name: "Archive 230" }));
    const dialog = await screen.findByRole("dialog", { name: "Archive 230 runs?" });
    fireEvent.click(within(dialog).getByRole("button", { name: "Archive 230 runs" }));
    expect(await screen.findByText("20 bulk actions are in progress.")).toBeTruthy();
    expect(screen.getByText("All 250 runs selected")).toBeTruthy();
  });

  it("tags and exports all matches", async () => {
    const server = serveMany({
      "POST /bulk-actions": Response.json(progress({ action: "tag" }), { status: 201 }),
    });
    show();
    fireEvent.click(await screen.findByLabelText("Select all runs"));
    await screen.findByRole("button", { name: "Archive 230" });
    fireEvent.click(screen.getByRole("button", { name: "Export 250" }));
    const csv = await screen.findByRole("link", { name: "CSV" });
    expect(csv.getAttribute("href")).toBe("/api/v1/export/runs.csv?archived=false");
    await userEvent.keyboard("{Escape}");
    fireEvent.click(screen.getByRole("button", { name: "Tag 250" }));
    await userEvent.type(await screen.findByRole("combobox", { name: "Tags" }), "good{Enter}");
    fireEvent.click(screen.getByRole("button", { name: "Add tags" }));
    await waitFor(() => expect(server.of("POST /bulk-actions")).toHaveLength(1));
    expect(server.of("POST /bulk-actions")[0]?.body).toEqual({
      ...{ action: "tag", tags: ["good"], exclude: [], up_to: 250 },
    });
  });

  it("ends when another filter is chosen", async () => {
    serveMany();
    const { router } = show();
    fireEvent.click(await screen.findByLabelText("Select all runs"));
    await screen.findByText("All 250 runs selected");
    await act(() => router.navigate("/?state=failed"));
    await waitFor(() => expect(screen.queryByText("All 250 runs selected")).toBeNull());
  });
});
