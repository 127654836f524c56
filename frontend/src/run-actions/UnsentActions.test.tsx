import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { refusal, serve, type Asked } from "@/testing/server";
import { fakeStreams } from "@/testing/stream";
import { dismiss } from "./retriedActions";
import { RunMenu } from "./RunMenu";
import { store, storedActions, type StoredAction } from "./storedActions";
import { UnsentActions } from "./UnsentActions";

const RUN = aRun({ id: 1347 });
const PAUSE = "POST /runs/1347/pause";

beforeEach(fakeStreams);
afterEach(() => dismiss("steer run 1347"));

async function pause(answer: (tries: number) => object | Promise<object>) {
  let tries = 0;
  const server = serve({ [PAUSE]: (_: Asked) => answer(++tries), "GET /session": { required: false } });
  renderPage(
    <>
      <UnsentActions />
      <RunMenu run={RUN} />
    </>,
    { live: true },
  );
  await userEvent.click(screen.getByRole("button", { name: `Actions for ${RUN.name}` }));
  await userEvent.click(await screen.findByRole("menuitem", { name: /^Pause run/, hidden: true }));
  return server;
}

const fail = () => Promise.reject(new TypeError("Failed to fetch"));

it("names the run whose action failed, and retries when the connection returns", async () => {
  let online = false;
  const server = await pause(() => (online ? aRun({ id: 1347, desired: "pause" }) : fail()));
  await screen.findByText("Run 1347 was NOT paused.");
  screen.getByText(/The server cannot be reached.* Arcadia is retrying\./);
  online = true;
  act(() => void window.dispatchEvent(new Event("online")));
  await screen.findByText("Run 1347 pausing.");
  expect(screen.queryByText("Run 1347 was NOT paused.")).toBeNull();
  const sent = server.of(PAUSE).length;
  act(() => void window.dispatchEvent(new Event("online")));
  expect(server.of(PAUSE)).toHaveLength(sent);
});

it("retries automatically with growing delays, and finally stops", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
  try {
    const server = await pause(fail);
    await screen.findByText("Run 1347 was NOT paused.");
    const before = server.of(PAUSE).length;
    await act(() => vi.advanceTimersByTimeAsync(4000));
    expect(server.of(PAUSE).length).toBeGreaterThan(before);
    for (let tries = 0; tries < 30; tries++) await act(() => vi.advanceTimersByTimeAsync(15_000));
    expect(screen.queryByText(/is retrying/)).toBeNull();
    const sent = server.of(PAUSE).length;
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(server.of(PAUSE)).toHaveLength(sent + 1);
    screen.getByText("Run 1347 was NOT paused.");
  } finally {
    vi.useRealTimers();
  }
});

it("keeps an action on screen that failed because the user is signed out", async () => {
  const server = await pause(() => refusal(401, "Sign in first."));
  await screen.findByText("Run 1347 was NOT paused.");
  expect(screen.queryByText(/is retrying/)).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "Dismiss: Run 1347 was NOT paused" }));
  expect(screen.queryByText("Run 1347 was NOT paused.")).toBeNull();
  act(() => void window.dispatchEvent(new Event("online")));
  expect(server.of(PAUSE)).toHaveLength(1);
});

it("sends a failed action again when the page unloads", async () => {
  const server = await pause(fail);
  await screen.findByText("Run 1347 was NOT paused.");
  const before = server.of(PAUSE).length;
  window.dispatchEvent(new Event("pagehide"));
  await waitFor(() => expect(server.of(PAUSE)).toHaveLength(before + 1));
});

const HOUR_MS = 3_600_000;

/** Open a page whose browser stored a failed stop of run 1347. */
function reload(ago: number, answer: () => object | Promise<object>, stored: Partial<StoredAction> = {}) {
  const server = serve({
    "POST /runs/1347/stop": answer,
    "POST /bulk-actions": answer,
    "GET /session": { required: false },
  });
  store({
    key: "steer run 1347",
    failure: "Run 1347 was NOT stopped",
    request: { target: "run", id: 1347, action: "stop" },
    reason: "The server cannot be reached.",
    requestedAt: Date.now() - ago,
    ...stored,
  });
  renderPage(<UnsentActions />, { live: true });
  return server;
}

it("stores an action until it succeeds", async () => {
  let online = false;
  await pause(() => (online ? aRun({ id: 1347, desired: "pause" }) : fail()));
  await screen.findByText("Run 1347 was NOT paused.");
  expect(storedActions()).toMatchObject([
    { key: "steer run 1347", reason: expect.stringContaining("reached") },
  ]);
  online = true;
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  await waitFor(() => expect(storedActions()).toEqual([]));
});

it("shows a failed action after a reload, and sends it when the server is back", async () => {
  let online = false;
  const server = reload(60_000, () => (online ? aRun({ id: 1347 }) : fail()));
  await screen.findByText("Run 1347 was NOT stopped.");
  online = true;
  act(() => void window.dispatchEvent(new Event("online")));
  await waitFor(() => expect(screen.queryByText("Run 1347 was NOT stopped.")).toBeNull());
  expect(server.of("POST /runs/1347/stop").length).toBeGreaterThan(0);
  expect(storedActions()).toEqual([]);
});

it("sends an action older than an hour only on a click", async () => {
  const server = reload(HOUR_MS + 60_000, () => aRun({ id: 1347 }));
  await screen.findByText("Run 1347 was NOT stopped.");
  screen.getByText(/You requested this 1 h ago\./);
  act(() => void window.dispatchEvent(new Event("online")));
  window.dispatchEvent(new Event("pagehide"));
  expect(server.of("POST /runs/1347/stop")).toEqual([]);
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  await waitFor(() => expect(storedActions()).toEqual([]));
  expect(server.of("POST /runs/1347/stop")).toHaveLength(1);
});

it("says that an old action without a response may have succeeded", async () => {
  reload(2 * HOUR_MS, () => aRun({ id: 1347 }), { reason: null });
  await screen.findByText("Run 1347 may not have been stopped.");
  await userEvent.click(screen.getByRole("button", { name: /^Dismiss/ }));
  expect(storedActions()).toEqual([]);
});

it("purges runs after a reload only on a click", async () => {
  const request = { target: "runs" as const, ids: [1347], action: "purge" as const };
  const server = reload(1000, fail, { request, failure: "Run 1347 was NOT purged" });
  await screen.findByText("Run 1347 was NOT purged.");
  act(() => void window.dispatchEvent(new Event("online")));
  expect(server.of("POST /bulk-actions")).toEqual([]);
});

it("drops an action that another tab has sent", async () => {
  reload(2 * HOUR_MS, fail);
  await screen.findByText("Run 1347 was NOT stopped.");
  localStorage.clear();
  act(() => void window.dispatchEvent(new StorageEvent("storage", { key: null })));
  expect(screen.queryByText("Run 1347 was NOT stopped.")).toBeNull();
});
