import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { refusal, serve, type Asked } from "@/testing/server";
import { fakeStreams } from "@/testing/stream";
import { dismiss } from "./promisedActions";
import { RunMenu } from "./RunMenu";
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

const away = () => Promise.reject(new TypeError("Failed to fetch"));

it("names the run whose action failed, and sends it again when the connection returns", async () => {
  let online = false;
  const server = await pause(() => (online ? aRun({ id: 1347, desired: "pause" }) : away()));
  await screen.findByText("Run 1347 was NOT paused.");
  screen.getByText(/The server cannot be reached.* Arcadia keeps trying\./);
  online = true;
  act(() => void window.dispatchEvent(new Event("online")));
  await screen.findByText("Run 1347 asked to pause.");
  expect(screen.queryByText("Run 1347 was NOT paused.")).toBeNull();
  const sent = server.of(PAUSE).length;
  act(() => void window.dispatchEvent(new Event("online")));
  expect(server.of(PAUSE)).toHaveLength(sent);
});

it("tries again on its own, later each time, and at last leaves it to the user", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
  try {
    const server = await pause(away);
    await screen.findByText("Run 1347 was NOT paused.");
    const before = server.of(PAUSE).length;
    await act(() => vi.advanceTimersByTimeAsync(4000));
    expect(server.of(PAUSE).length).toBeGreaterThan(before);
    for (let tries = 0; tries < 30; tries++) await act(() => vi.advanceTimersByTimeAsync(15_000));
    expect(screen.queryByText(/keeps trying/)).toBeNull();
    const given = server.of(PAUSE).length;
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(server.of(PAUSE)).toHaveLength(given + 1);
    screen.getByText("Run 1347 was NOT paused.");
  } finally {
    vi.useRealTimers();
  }
});

it("keeps a refusal that a sign-in can cure on screen until it is dismissed", async () => {
  const server = await pause(() => refusal(401, "Sign in first."));
  await screen.findByText("Run 1347 was NOT paused.");
  expect(screen.queryByText(/keeps trying/)).toBeNull();
  await userEvent.click(screen.getByRole("button", { name: "Dismiss: Run 1347 was NOT paused" }));
  expect(screen.queryByText("Run 1347 was NOT paused.")).toBeNull();
  act(() => void window.dispatchEvent(new Event("online")));
  expect(server.of(PAUSE)).toHaveLength(1);
});

it("sends a failed action once more when the page is left", async () => {
  const server = await pause(away);
  await screen.findByText("Run 1347 was NOT paused.");
  const before = server.of(PAUSE).length;
  window.dispatchEvent(new Event("pagehide"));
  await waitFor(() => expect(server.of(PAUSE)).toHaveLength(before + 1));
});
