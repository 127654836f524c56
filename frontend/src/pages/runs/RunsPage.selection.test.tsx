import { fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { runKeys } from "@/api/runs";
import { renderPage } from "@/testing/render";
import { openRuns } from "@/testing/runList";
import { aFinishedRun, aRun, runListOf } from "@/testing/runs";
import { type Asked, refusal } from "@/testing/server";
import RunsPage from "./RunsPage";

const TWO = [aRun({ id: 1, name: "one" }), aRun({ id: 2, name: "two" })];
const show = () => renderPage(<RunsPage />);

describe("a selection of runs", () => {
  it("pauses the selected runs, and deselects runs that are no longer listed", async () => {
    const answers = { "POST /runs/bulk": { done: [1], skipped: [] } };
    const server = openRuns({ runs: TWO }, answers);
    const { client } = show();
    await userEvent.click(await screen.findByLabelText("Select one"));
    await userEvent.click(await screen.findByText("Pause 1"));
    await screen.findByText("Run 1 pausing.");
    expect(server.of("POST /runs/bulk").map(({ body }) => body)).toEqual([{ action: "pause", ids: [1] }]);
    vi.mocked(globalThis.fetch).mockImplementation(() =>
      Promise.resolve(Response.json(runListOf(TWO.slice(1)))),
    );
    await client.invalidateQueries({ queryKey: runKeys.lists });
    await waitFor(() => expect(screen.queryByText("1 run selected")).toBeNull());
  });

  it("selects all matches, including runs that are not loaded", async () => {
    const all = Array.from({ length: 3 }, (_, at) => aRun({ id: at + 1, name: `run ${at + 1}` }));
    let first = true;
    openRuns(
      {},
      {
        "GET /runs": () => {
          const shown = first ? all.slice(0, 1) : all;
          first = false;
          return runListOf(shown, { total: 3 });
        },
      },
    );
    show();
    await userEvent.click(await screen.findByLabelText("Select run 1"));
    await userEvent.click(await screen.findByText("Select all 3 matches"));
    await screen.findByText("3 runs selected");
  });

  it("selects all matches even while the list is being refetched", async () => {
    const all = Array.from({ length: 150 }, (_, at) => aRun({ id: at + 1, name: `run ${at + 1}` }));
    let slow = false;
    let answer: () => void = () => undefined;
    const response = new Promise<void>((resolve) => (answer = resolve));
    openRuns(
      {},
      {
        "GET /runs": async ({ query }: Asked) => {
          if (slow) await response;
          return query.get("cursor")
            ? runListOf(all.slice(100), { total: 150 })
            : runListOf(all.slice(0, 100), { total: 150, next_cursor: "later" });
        },
      },
    );
    const { client } = show();
    await userEvent.click(await screen.findByLabelText("Select run 1"));
    const selectAll = screen.getByText("Select all 150 matches");
    slow = true;
    void client.invalidateQueries({ queryKey: runKeys.lists });
    fireEvent.click(selectAll);
    answer();
    await screen.findByText("150 runs selected");
  });

  it("disables actions while all matches are being fetched", async () => {
    const all = Array.from({ length: 139 }, (_, at) => aFinishedRun({ id: at + 1, name: `run ${at + 1}` }));
    let slow = false;
    let answer: () => void = () => undefined;
    const response = new Promise<void>((resolve) => (answer = resolve));
    const server = openRuns(
      {},
      {
        "GET /runs": async ({ query }: Asked) => {
          if (slow) await response;
          return query.get("cursor")
            ? runListOf(all.slice(100), { total: 139 })
            : runListOf(all.slice(0, 100), { total: 139, next_cursor: "later" });
        },
        "POST /runs/bulk": ({ body }: Asked) => ({ done: (body as { ids: number[] }).ids, skipped: [] }),
      },
    );
    show();
    fireEvent.click(await screen.findByLabelText("Select run 1"));
    slow = true;
    fireEvent.click(screen.getByText("Select all 139 matches"));
    await screen.findByText("Selecting all 139…");
    expect(screen.getByRole<HTMLButtonElement>("button", { name: /^Archive/ }).disabled).toBe(true);
    answer();
    fireEvent.click(await screen.findByRole("button", { name: "Archive 139" }));
    await screen.findByText("139 runs archived.");
    expect(server.of("POST /runs/bulk").map(({ body }) => (body as { ids: number[] }).ids.length)).toEqual([
      139,
    ]);
  });

  it("says why not all matches could be selected", async () => {
    let answers = 0;
    openRuns(
      {},
      {
        "GET /runs": () =>
          answers++ === 0 ? runListOf([aRun()], { total: 3 }) : refusal(500, "The list is unavailable."),
      },
    );
    show();
    await userEvent.click(await screen.findByLabelText("Select pong-1"));
    await userEvent.click(await screen.findByText("Select all 3 matches"));
    expect(await screen.findByText("The list is unavailable.")).toBeTruthy();
  });
});
