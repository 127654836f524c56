import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Run } from "@/api/types";
import { bulkServer, idsOf } from "@/testing/bulk";
import { renderPage } from "@/testing/render";
import { aFinishedRun, aRun } from "@/testing/runs";
import { type Asked, serve } from "@/testing/server";
import { fakeStreams } from "@/testing/stream";
import { UnsentActions } from "@/run-actions/UnsentActions";
import { RunsBar } from "./BulkBar";

const RUNS = [
  aRun({ id: 1, name: "one" }),
  aRun({ id: 2, name: "two" }),
  aFinishedRun({ id: 3, name: "done", actions: { stop: "Run 3 has finished and cannot be stopped." } }),
];

beforeEach(fakeStreams);

function show(runs: Run[], archived = false) {
  return renderPage(
    <RunsBar
      runs={runs}
      archived={archived}
      total={40}
      groupsAddress="/?by=method"
      onSelectAll={vi.fn()}
      onClear={vi.fn()}
    />,
  );
}

/** Serve actions on runs, of which some are skipped. */
const respond = (skipped: { id: number; reason: string }[] = []) => serve(bulkServer(() => skipped));

/** Return the actions that were requested. */
const requests = (server: ReturnType<typeof serve>) =>
  server.of("POST /bulk-actions").map(({ body }) => {
    const { action, ids } = body as { action: string; ids: number[] };
    return { action, ids };
  });

describe("the bulk action bar", () => {
  it("says how many runs each action affects and disables the others", () => {
    show(RUNS);
    expect(screen.getByText("3 runs selected")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Stop 2" })).toBeTruthy();
    expect(screen.getByRole("button", { name: "Archive 1" })).toBeTruthy();
    expect(screen.getByRole("button", { name: "Resume 0" }).hasAttribute("disabled")).toBe(true);
  });

  it("links to a comparison of the selected runs", () => {
    show(RUNS);
    expect(screen.getByRole("link", { name: "Compare 3" }).getAttribute("href")).toBe("/compare?runs=1-3");
  });

  it("exports the selected runs as one archive file", () => {
    show(RUNS);
    const address = screen.getByRole("link", { name: "Export 3" }).getAttribute("href");
    expect(decodeURIComponent(address ?? "")).toBe("/api/v1/archives?runs=1-3");
  });

  it("confirms a stop, lists the skipped runs, and sends only the others", async () => {
    const server = respond();
    show(RUNS);
    await userEvent.click(screen.getByRole("button", { name: "Stop 2" }));
    const dialog = await screen.findByRole("dialog", { name: "Stop 2 runs?" });
    expect(within(dialog).getByText("done #3: Run 3 has finished and cannot be stopped.")).toBeTruthy();
    expect(requests(server)).toEqual([]);
    await userEvent.click(within(dialog).getByRole("button", { name: "Stop 2 runs" }));
    await screen.findByText("2 runs stopping.");
    expect(requests(server)).toEqual([{ action: "stop", ids: [1, 2] }]);
  });

  it("acts on the confirmed runs even if the list changes while the dialog is open", async () => {
    const server = respond();
    let changeRuns: (runs: Run[]) => void = () => undefined;
    function ChangingList() {
      const [runs, setRuns] = useState(RUNS.slice(0, 2));
      changeRuns = setRuns;
      return (
        <RunsBar
          runs={runs}
          archived={false}
          total={40}
          groupsAddress="/?by=method"
          onSelectAll={vi.fn()}
          onClear={vi.fn()}
        />
      );
    }
    renderPage(<ChangingList />);
    await userEvent.click(screen.getByRole("button", { name: "Stop 2" }));
    const dialog = await screen.findByRole("dialog", { name: "Stop 2 runs?" });
    act(() => changeRuns([2, 8, 9].map((id) => aRun({ id }))));
    await userEvent.click(within(dialog).getByRole("button", { name: "Stop 2 runs" }));
    await waitFor(() => expect(requests(server)).toEqual([{ action: "stop", ids: [1, 2] }]));
  });

  it("acts without confirmation if nothing is skipped or lost", async () => {
    const server = respond();
    show(RUNS.slice(0, 2));
    await userEvent.click(screen.getByRole("button", { name: "Pause 2" }));
    await waitFor(() => expect(requests(server)).toHaveLength(1));
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("lists the runs that the server skipped", async () => {
    respond([{ id: 2, reason: "Run 2 has finished already." }]);
    show(RUNS.slice(0, 2));
    await userEvent.click(screen.getByRole("button", { name: "Pause 2" }));
    expect(await screen.findByText("Run 2 has finished already.")).toBeTruthy();
  });

  it("offers to restore or purge archived runs", () => {
    show([aFinishedRun({ archived_at: "2026-01-02T00:00:00Z", actions: { restore: null } })], true);
    expect(screen.getByRole("button", { name: "Restore 1" })).toBeTruthy();
    expect(screen.getByRole("button", { name: "Purge 1" })).toBeTruthy();
    expect(screen.queryByRole("button", { name: /^Stop/ })).toBeNull();
  });

  it("confirms a purge of one run, and does nothing if canceled", async () => {
    const server = respond();
    const archived = { archived_at: "2026-01-02T00:00:00Z" };
    show([aFinishedRun({ ...archived, id: 4 })], true);
    await userEvent.click(screen.getByText("Purge 1"));
    const dialog = await screen.findByRole("dialog", { name: "Purge run 4?" });
    const purge = within(dialog).getByRole<HTMLButtonElement>("button", { name: "Purge run 4" });
    expect(purge.disabled).toBe(true);
    await userEvent.click(screen.getByText("Cancel"));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(requests(server)).toEqual([]);
  });

  it("requires the number of runs before it purges several", async () => {
    const server = respond();
    const archived = { archived_at: "2026-01-02T00:00:00Z" };
    show(
      [aFinishedRun({ ...archived, id: 4, name: "a" }), aFinishedRun({ ...archived, id: 5, name: "b" })],
      true,
    );
    await userEvent.click(screen.getByText("Purge 2"));
    const dialog = await screen.findByRole("dialog", { name: "Purge 2 runs?" });
    expect(within(dialog).getByText(/^#4 a, #5 b: this permanently deletes/)).toBeTruthy();
    await userEvent.type(within(dialog).getByLabelText("Type 2 to confirm"), "2{Enter}");
    await screen.findByText("2 runs purged.");
    expect(requests(server)).toEqual([{ action: "purge", ids: [4, 5] }]);
  });

  it("can undo archiving", async () => {
    const server = respond();
    show([aFinishedRun({ id: 3 })]);
    await userEvent.click(screen.getByRole("button", { name: "Archive 1" }));
    await screen.findByText("Run 3 archived.");
    await userEvent.click(screen.getByRole("button", { name: "Undo" }));
    await waitFor(() => expect(requests(server)).toHaveLength(2));
    expect(requests(server)[1]).toEqual({ action: "restore", ids: [3] });
  });

  it("names the runs that were not stopped, and can retry", async () => {
    let isOffline = true;
    const working = bulkServer();
    const start = working["POST /bulk-actions"] as (asked: Asked) => object;
    const server = serve({
      ...working,
      "POST /bulk-actions": (asked: Asked) =>
        isOffline ? Promise.reject(new TypeError("Failed to fetch")) : start(asked),
    });
    renderPage(
      <>
        <UnsentActions />
        <RunsBar
          runs={RUNS.slice(0, 2)}
          archived={false}
          total={2}
          groupsAddress="/?by=method"
          onSelectAll={vi.fn()}
          onClear={vi.fn()}
        />
      </>,
      { live: true },
    );
    await userEvent.click(screen.getByRole("button", { name: "Stop 2" }));
    await userEvent.click(await screen.findByRole("button", { name: "Stop 2 runs" }));
    await screen.findByText("2 runs (#1, #2) were NOT stopped.");
    isOffline = false;
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    await screen.findByText("2 runs stopping.");
    expect(screen.queryByText(/NOT stopped/)).toBeNull();
    expect(requests(server).at(-1)).toEqual({ action: "stop", ids: [1, 2] });
  });

  it("compares hundreds of runs, and still more in groups", () => {
    const many = (count: number) => Array.from({ length: count }, (_, at) => aRun({ id: at + 1 }));
    const { unmount } = show(many(500));
    expect(screen.getByRole("link", { name: "Compare 500" }).getAttribute("href")).toBe(
      "/compare?runs=1-500",
    );
    unmount();
    show(many(501));
    expect(screen.getByRole("link", { name: "Compare groups" }).getAttribute("href")).toBe("/?by=method");
  });

  it("exports thousands of runs as several archives", async () => {
    show(Array.from({ length: 1013 }, (_, at) => aRun({ id: at + 1 })));
    await userEvent.click(screen.getByRole("button", { name: "Export 1\u202f013" }));
    const dialog = within(await screen.findByRole("dialog", { name: "Export 1\u202f013 runs" }));
    const addresses = () =>
      dialog.getAllByRole("link").map((link) => decodeURIComponent(link.getAttribute("href") ?? ""));
    expect(addresses()).toEqual([
      "/api/v1/archives?runs=1-1000&files=best",
      "/api/v1/archives?runs=1001-1013&files=best",
    ]);
    await userEvent.click(dialog.getByText("All files"));
    expect(addresses()[1]).toBe("/api/v1/archives?runs=1001-1013");
  });

  it("tags runs in several requests, and lists those that were skipped", async () => {
    const server = serve({
      "GET /run-facets": {
        state: [],
        algorithm: [],
        env: [],
        tag: [{ value: "good", runs: 2 }],
        origin: [],
      },
      ...bulkServer((ids) =>
        [ids[0], ids[1000]].flatMap((id) =>
          id === undefined ? [] : [{ id, reason: `Run ${id} has too many tags.` }],
        ),
      ),
    });
    show(Array.from({ length: 1002 }, (_, at) => aRun({ id: at + 1 })));
    await userEvent.click(screen.getByRole("button", { name: "Tag 1\u202f002" }));
    const dialog = within(await screen.findByRole("dialog"));
    const field = dialog.getByRole("combobox", { name: "Tags" });
    await waitFor(() => expect(document.activeElement).toBe(field));
    await userEvent.type(field, "night{Enter}");
    await userEvent.click(dialog.getByRole("button", { name: "Add tags" }));
    expect(await screen.findByText("Run 1001 has too many tags.")).toBeTruthy();
    expect(screen.getByText("The server skipped 2 runs:")).toBeTruthy();
    const [sent] = server.of("POST /bulk-actions");
    expect(idsOf(sent?.body)).toHaveLength(1002);
    expect(sent?.body).toMatchObject({ action: "tag", tags: ["night"] });
  });

  it("offers the tags of the selected runs for removal", async () => {
    const server = serve({
      "GET /run-facets": { state: [], algorithm: [], env: [], tag: [], origin: [] },
      ...bulkServer(),
    });
    show([aRun({ id: 1, tags: ["good"] })]);
    await userEvent.click(screen.getByRole("button", { name: "Tag 1" }));
    const dialog = within(await screen.findByRole("dialog"));
    await userEvent.click(dialog.getByText("Remove tags", { selector: "label *" }));
    await userEvent.type(dialog.getByRole("combobox", { name: "Tags" }), "good{Enter}");
    await userEvent.click(dialog.getByRole("button", { name: "Remove tags" }));
    await waitFor(() =>
      expect(server.of("POST /bulk-actions")[0]?.body).toMatchObject({
        action: "untag",
        ids: [1],
        tags: ["good"],
      }),
    );
  });

  it("offers to select all matches unless all are selected", async () => {
    const onSelectAll = vi.fn();
    const bar = (total: number) => (
      <RunsBar
        runs={RUNS}
        archived={false}
        total={total}
        groupsAddress="/"
        onSelectAll={onSelectAll}
        onClear={vi.fn()}
      />
    );
    const { unmount } = renderPage(bar(10_013));
    await userEvent.click(screen.getByText("Select all 10 013 matches"));
    expect(onSelectAll).toHaveBeenCalledTimes(1);
    unmount();
    renderPage(bar(3));
    expect(screen.queryByText(/^Select all/)).toBeNull();
  });
});
