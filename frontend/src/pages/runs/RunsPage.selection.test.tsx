import { fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { runKeys } from "@/api/runs";
import { renderPage } from "@/testing/render";
import { openRuns } from "@/testing/runList";
import { aFinishedRun, aRun } from "@/testing/runs";
import { type Asked, listOf, refusal } from "@/testing/server";
import RunsPage from "./RunsPage";

const TWO = [aRun({ id: 1, name: "one" }), aRun({ id: 2, name: "two" })];
const show = () => renderPage(<RunsPage />);

describe("a selection of runs", () => {
  it("stops the selected runs, and forgets a selection that is no longer listed", async () => {
    const answers = { "POST /runs/bulk": { done: [1], skipped: [] } };
    const server = openRuns({ runs: TWO }, answers);
    const { client } = show();
    await userEvent.click(await screen.findByLabelText("Select one"));
    await userEvent.click(screen.getByText("Pause 1"));
    await screen.findByText("Run 1 asked to pause.");
    expect(server.of("POST /runs/bulk").map(({ body }) => body)).toEqual([{ action: "pause", ids: [1] }]);
    vi.mocked(globalThis.fetch).mockImplementation(() =>
      Promise.resolve(Response.json(listOf(TWO.slice(1)))),
    );
    await client.invalidateQueries({ queryKey: runKeys.lists });
    await waitFor(() => expect(screen.queryByText("1 run selected")).toBeNull());
  });

  it("selects every run that matches, also those not fetched yet", async () => {
    const all = Array.from({ length: 3 }, (_, at) => aRun({ id: at + 1, name: `run ${at + 1}` }));
    let first = true;
    openRuns(
      {},
      {
        "GET /runs": () => {
          const shown = first ? all.slice(0, 1) : all;
          first = false;
          return listOf(shown, { total: 3 });
        },
      },
    );
    show();
    await userEvent.click(await screen.findByLabelText("Select run 1"));
    await userEvent.click(screen.getByText("Select all 3 that match"));
    await screen.findByText("3 runs selected");
  });

  it("selects every run that matches also while the list is fetched again", async () => {
    const all = Array.from({ length: 150 }, (_, at) => aRun({ id: at + 1, name: `run ${at + 1}` }));
    let slow = false;
    let answer: () => void = () => undefined;
    const awaited = new Promise<void>((resolve) => (answer = resolve));
    openRuns(
      {},
      {
        "GET /runs": async ({ query }: Asked) => {
          if (slow) await awaited;
          return query.get("cursor")
            ? listOf(all.slice(100), { total: 150 })
            : listOf(all.slice(0, 100), { total: 150, next_cursor: "later" });
        },
      },
    );
    const { client } = show();
    await userEvent.click(await screen.findByLabelText("Select run 1"));
    const selectAll = screen.getByText("Select all 150 that match");
    slow = true;
    void client.invalidateQueries({ queryKey: runKeys.lists });
    fireEvent.click(selectAll);
    answer();
    await screen.findByText("150 runs selected");
  });

  it("lets no action touch a part of the runs while all that match are fetched", async () => {
    const all = Array.from({ length: 139 }, (_, at) => aFinishedRun({ id: at + 1, name: `run ${at + 1}` }));
    let slow = false;
    let answer: () => void = () => undefined;
    const awaited = new Promise<void>((resolve) => (answer = resolve));
    const server = openRuns(
      {},
      {
        "GET /runs": async ({ query }: Asked) => {
          if (slow) await awaited;
          return query.get("cursor")
            ? listOf(all.slice(100), { total: 139 })
            : listOf(all.slice(0, 100), { total: 139, next_cursor: "later" });
        },
        "POST /runs/bulk": ({ body }: Asked) => ({ done: (body as { ids: number[] }).ids, skipped: [] }),
      },
    );
    show();
    fireEvent.click(await screen.findByLabelText("Select run 1"));
    slow = true;
    fireEvent.click(screen.getByText("Select all 139 that match"));
    await screen.findByText("Selecting all 139…");
    expect(screen.getByRole<HTMLButtonElement>("button", { name: /^Archive/ }).disabled).toBe(true);
    answer();
    fireEvent.click(await screen.findByRole("button", { name: "Archive 139" }));
    await screen.findByText("139 runs archived.");
    expect(server.of("POST /runs/bulk").map(({ body }) => (body as { ids: number[] }).ids.length)).toEqual([
      139,
    ]);
  });

  it("says why not every run that matches could be selected", async () => {
    let answers = 0;
    openRuns(
      {},
      {
        "GET /runs": () =>
          answers++ === 0 ? listOf([aRun()], { total: 3 }) : refusal(500, "The list is away."),
      },
    );
    show();
    await userEvent.click(await screen.findByLabelText("Select pong-1"));
    await userEvent.click(screen.getByText("Select all 3 that match"));
    expect(await screen.findByText("The list is away.")).toBeTruthy();
  });
});
