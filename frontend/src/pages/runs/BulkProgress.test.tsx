import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { serve } from "@/testing/server";
import { fakeStreams, stream } from "@/testing/stream";
import { BulkProgress } from "./BulkProgress";

beforeEach(() => {
  fakeStreams();
  sessionStorage.clear();
});

const anAction = (fields: object) => ({
  ...{ id: 3, action: "archive", tags: [], project: null, state: "running", total: 10_000, done: 3200 },
  ...{
    skipped: 0,
    may_edit: true,
    message: null,
    created_at: "2026-01-02T00:00:00Z",
    finished_at: null,
    ...fields,
  },
});
const ENDED = { state: "done", done: 9_900, skipped: 100, finished_at: "2026-01-02T00:01:00Z" };

/** Show an action that is in progress, and return a function that changes it. */
async function open(answers: Record<string, object> = {}) {
  let action = anAction({});
  const server = serve({ "GET /bulk-actions": () => [action], ...answers });
  const page = renderPage(<BulkProgress />, { live: true });
  await screen.findByText(/: 3.200 done/);
  const change = (fields: object) => {
    action = anAction(fields);
    act(() => stream().say("bulk.changed", '{"id": 3}'));
  };
  return { server, change, ...page };
}

it("shows the progress, then the result with the skipped runs until it is dismissed", async () => {
  const skipped = { items: [{ id: 7, reason: "Run 7 is still running." }], total: 100 };
  const { change } = await open({ "GET /bulk-actions/3/skipped": skipped });
  expect(screen.getByText(/^Archiving 10.000 runs$/)).toBeTruthy();
  change(ENDED);
  await screen.findByText(/^9.900 runs archived, 100 skipped\.$/);
  await userEvent.click(screen.getByRole("button", { name: "Show skipped" }));
  await screen.findByText("Run 7 is still running.");
  expect(screen.getByText("And 99 more.")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Dismiss" }));
  expect(screen.queryByText(/archived/)).toBeNull();
});

it("shows the result also after a reload", async () => {
  const { change, unmount } = await open();
  change(ENDED);
  await screen.findByText(/archived, 100 skipped/);
  unmount();
  renderPage(<BulkProgress />);
  expect(await screen.findByText(/archived, 100 skipped/)).toBeTruthy();
});

it("does not show the results of earlier actions", async () => {
  const server = serve({ "GET /bulk-actions": [anAction(ENDED)] });
  renderPage(<BulkProgress />);
  await waitFor(() => expect(server.of("GET /bulk-actions")).toHaveLength(1));
  expect(screen.queryByRole("region")).toBeNull();
});

it("cancels an action and reverses an ended one", async () => {
  const canceled = anAction({ state: "cancelled", finished_at: "2026-01-02T00:01:00Z" });
  const undone = anAction({ id: 4, action: "restore", total: 3200, done: 0 });
  const { server, change } = await open({
    "POST /bulk-actions/3/cancel": canceled,
    "POST /bulk-actions/3/undo": () => Response.json(undone, { status: 201 }),
  });
  await userEvent.click(screen.getByRole("button", { name: /^Cancel: Archiving/ }));
  expect(server.of("POST /bulk-actions/3/cancel")).toHaveLength(1);
  change(canceled);
  await screen.findByText(/^3.200 runs archived, canceled before the other 6.800\.$/);
  await userEvent.click(screen.getByRole("button", { name: "Undo" }));
  await waitFor(() => expect(server.of("POST /bulk-actions/3/undo")).toHaveLength(1));
});
