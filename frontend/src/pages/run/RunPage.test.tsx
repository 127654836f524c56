import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Run } from "@/api/types";
import { aCheckpoint } from "@/testing/files";
import { renderPage } from "@/testing/render";
import { aFinishedRun, aReportedRun, aRun } from "@/testing/runs";
import { done, refusal, serve } from "@/testing/server";
import { fakeStreams, stream } from "@/testing/stream";
import RunPage from "./RunPage";

beforeEach(fakeStreams);
afterEach(() => void vi.useRealTimers());
// jsdom plays no videos.
beforeEach(() => {
  vi.spyOn(HTMLMediaElement.prototype, "play").mockResolvedValue();
  vi.spyOn(HTMLMediaElement.prototype, "pause").mockReturnValue();
});

function open(run: Run, more: Record<string, object> = {}, at = `/runs/${run.id}`) {
  const server = serve({
    [`GET /runs/${run.id}`]: run,
    [`GET /runs/${run.id}/metric-names`]: ["episode/return"],
    [`GET /runs/${run.id}/replays`]: [],
    [`GET /runs/${run.id}/checkpoints`]: [],
    "GET /presets": [],
    "GET /config-schema": { properties: {} },
    ...more,
  });
  const routes = [
    { path: "/", element: <p>All runs</p> },
    { path: "/runs/8", element: <p>The copy</p> },
  ];
  const page = renderPage(<RunPage />, { at, path: "/runs/:id/:tab?", routes, live: true });
  return { ...page, server };
}

/** Find the heading of a run that has been loaded. */
const heading = () => screen.findByRole("heading", { level: 1, name: (name) => !/^Run \d+$/.test(name) });
const button = (name: string) => screen.queryByRole("button", { name });

describe("the run header", () => {
  it("stays on the next page if the run is purged after navigation", async () => {
    let purge: () => void = () => undefined;
    const run = aFinishedRun({ id: 1, name: "first" });
    const purged = new Promise<object>((resolve) => (purge = () => resolve(done())));
    const { router, server } = open(run, { "DELETE /runs/1": () => purged });
    await userEvent.click(await screen.findByRole("button", { name: "Actions for first" }));
    await userEvent.click(await screen.findByText(/Purge run/));
    await userEvent.type(await screen.findByLabelText("Type 1 to confirm"), "1");
    await userEvent.click(screen.getByRole("button", { name: "Purge run 1" }));
    await waitFor(() => expect(server.of("DELETE /runs/1")).toHaveLength(1));
    await act(() => router.navigate("/runs/8"));
    purge();
    expect(await screen.findByText("Run 1 purged.")).toBeTruthy();
    expect(router.state.location.pathname).toBe("/runs/8");
  });

  it("shows the mean speed of a run that has ended", async () => {
    open(aFinishedRun({ step: 100_000, trained_seconds: 50, steps_per_second: null }));
    await heading();
    const label = await screen.findByText("Mean speed");
    expect(label.nextElementSibling?.textContent).toBe("2 k/s");
  });

  it("shows the run's name, state and facts", async () => {
    open(
      aRun({
        id: 12,
        name: "long one",
        attempt: 3,
        tags: ["sweep"],
        parent: { run_id: 4, checkpoint_id: 9, step: 2000 },
        state_reason: "Waiting for a free CPU worker",
        state: "queued",
      }),
    );
    expect((await heading()).textContent).toBe("long one");
    expect(document.title).toBe("long one · Arcadia");
    for (const words of ["Run 12", "PAAC on ALE/Pong-v5", "on cpu-1", "attempt 3", "sweep", "Queued"])
      expect(screen.getAllByText(words).length).toBeGreaterThan(0);
    expect(screen.getByText("Waiting for a free CPU worker")).toBeTruthy();
    expect(screen.getByRole("link", { name: "from run 4" }).getAttribute("href")).toBe("/runs/4");
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("25");
  });

  it("shows the start steps instead of an empty chart", async () => {
    const step = (name: string, from: number, to: number | null) => ({
      name,
      began_at: new Date(Date.UTC(2026, 0, 1, 10, 0, from)).toISOString(),
      ended_at: to === null ? null : new Date(Date.UTC(2026, 0, 1, 10, 0, to)).toISOString(),
    });
    const start_steps = [
      step("Waiting for a worker", 0, 2),
      step("Worker cpu-1 took the run", 2, 3),
      step("Loading PyTorch", 3, null),
    ];
    open(aRun({ state: "starting", step: 0, state_reason: "Loading PyTorch", start_steps }));
    const card = within(await screen.findByRole("region", { name: "Start" }));
    const [waiting, taken, loading] = card.getAllByRole("listitem");
    expect(waiting?.textContent).toBe("Waiting for a worker2 s");
    expect(taken?.textContent).toBe("Worker cpu-1 took the run1 s");
    expect(loading?.getAttribute("aria-current")).toBe("step");
    expect(screen.getAllByText("Loading PyTorch")).toHaveLength(2);
    expect(screen.queryByRole("figure")).toBeNull();
  });

  it("hides the start steps once they are done", async () => {
    open(aRun({ state: "starting", step: 0, start_steps: [] }));
    await heading();
    expect(screen.queryByRole("region", { name: "Start" })).toBeNull();
  });

  it("links to the run's study", async () => {
    const study = { id: 3, name: "Which rate?", point: 1, seed: 2 };
    open(aRun({ study }));
    const link = await screen.findByRole("link", { name: "study Which rate?" });
    expect(link.getAttribute("href")).toBe("/studies/3");
  });

  it("lists its numbers as pairs of a term and a value", async () => {
    open(aRun());
    await heading();
    const words = screen.getAllByRole("term").map(({ textContent, parentElement }) => {
      const children = [...(parentElement?.children ?? [])].map(({ tagName }) => tagName);
      return [textContent, children.includes("DD")];
    });
    expect(words).toContainEqual(["Progress", true]);
    expect(words.filter(([, paired]) => !paired)).toEqual([]);
  });

  it("has buttons only for allowed actions", async () => {
    open(aRun({ state: "paused", actions: { pause: "Run 1 is already paused.", resume: null } }));
    await heading();
    expect(button("Resume")).toBeTruthy();
    expect(button("Stop run")).toBeTruthy();
    expect(button("Pause")).toBeNull();
  });

  it("stops the run ten seconds after the click unless undone", async () => {
    vi.useFakeTimers({ shouldAdvanceTime: true, toFake: ["setTimeout", "clearTimeout"] });
    const stopping = aRun({
      desired: "stop",
      actions: { stop: "Run 1 is already stopping.", pause: "No." },
    });
    const { server } = open(aRun(), { "POST /runs/1/stop": stopping });
    await heading();
    await userEvent.click(screen.getByRole("button", { name: "Stop run" }));
    expect(button("Pause")).toBeNull();
    expect(document.activeElement).toBe(button("Undo stop"));
    await userEvent.click(screen.getByRole("button", { name: "Undo stop" }));
    expect(document.activeElement).toBe(button("Stop run"));
    vi.advanceTimersByTime(20_000);
    expect(server.of("POST /runs/1/stop")).toEqual([]);

    await userEvent.click(await screen.findByRole("button", { name: "Stop run" }));
    vi.advanceTimersByTime(10_000);
    expect(await screen.findByText("Stopping")).toBeTruthy();
    expect(button("Stop run")).toBeNull();
    expect(server.of("POST /runs/1/stop")).toHaveLength(1);
  });

  it("continues a stopped run from its last available checkpoint", async () => {
    const stopped = aFinishedRun({ state: "stopped", step: 50_000 });
    const { router, server } = open(stopped, {
      "GET /runs/1/checkpoints": [
        aCheckpoint(1, 20_000),
        aCheckpoint(2, 47_400),
        aCheckpoint(3, 50_000, { available: false, file_id: null }),
      ],
      "POST /runs/1/fork": aRun({ id: 8 }),
    });
    await userEvent.click(await screen.findByRole("button", { name: /^Continue from 47\.4.k$/ }));
    await waitFor(() => expect(router.state.location.pathname).toBe("/runs/8"));
    expect(server.of("POST /runs/1/fork").map(({ body }) => body)).toEqual([{ checkpoint_id: 2 }]);
  });

  it("opens the copy that its menu launches", async () => {
    const { router } = open(aRun(), { "POST /runs/1/clone": aRun({ id: 8 }) });
    await heading();
    await userEvent.click(screen.getByRole("button", { name: "Actions for pong-1" }));
    await userEvent.click(await screen.findByRole("menuitem", { name: "Run this again", hidden: true }));
    await waitFor(() => expect(router.state.location.pathname).toBe("/runs/8"));
  });
});

describe("the name of a run", () => {
  async function rename(typed: string) {
    const { server } = open(aRun(), { "PATCH /runs/1": aRun({ name: "renamed" }) });
    await heading();
    await userEvent.click(screen.getByRole("button", { name: "Rename run" }));
    const field = screen.getByLabelText("Run name");
    await userEvent.clear(field);
    await userEvent.type(field, typed);
    return server;
  }

  it("is edited in place", async () => {
    const server = await rename(" renamed {Enter}");
    await waitFor(async () => expect((await heading()).textContent).toBe("renamed"));
    expect(server.of("PATCH /runs/1").map(({ body }) => body)).toEqual([{ name: "renamed" }]);
  });

  it.each(["other{Escape}", "  {Enter}", "pong-1{Enter}"])("is kept after %j", async (typed) => {
    const server = await rename(typed);
    expect((await heading()).textContent).toBe("pong-1");
    expect(document.activeElement).toBe(button("Rename run"));
    expect(server.of("PATCH /runs/1")).toEqual([]);
  });
});

describe("a run that cannot be shown", () => {
  it("shows not found", async () => {
    open(aRun(), {}, "/runs/99");
    expect(await screen.findByText("There is no run 99")).toBeTruthy();
    expect(screen.getByRole("link", { name: "See all runs" }).getAttribute("href")).toBe("/");
  });

  it("shows 'not found' after it was purged in another window", async () => {
    open(aRun({ id: 12 }));
    await heading();
    serve({});
    act(() => stream().say("run.removed", '{"run_id": 12}'));
    expect(await screen.findByText("There is no run 12")).toBeTruthy();
  });

  it("is not requested if the URL has no number", async () => {
    const { server } = open(aRun(), {}, "/runs/latest");
    expect(await screen.findByText("There is no run latest")).toBeTruthy();
    expect(server.asked).toEqual([]);
  });

  it("can be retried after a server error", async () => {
    let answers = 0;
    open(aRun(), {
      "GET /runs/1": () => (answers++ === 0 ? refusal(500, "The database is locked.") : aRun()),
    });
    expect(await screen.findByText("The database is locked.")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect((await heading()).textContent).toBe("pong-1");
  });
});

describe("the tabs", () => {
  const selected = () => screen.getByRole("tab", { selected: true }).textContent;

  it("are in the URL, which keeps the view of the charts", async () => {
    const { router } = open(aRun(), {}, "/runs/1/checkpoints?x=time");
    await heading();
    expect(selected()).toBe("Checkpoints");
    await userEvent.click(screen.getByRole("tab", { name: "Replays" }));
    await waitFor(() => expect(router.state.location.pathname).toBe("/runs/1/replays"));
    expect(await screen.findByText("No replays yet")).toBeTruthy();
  });

  it("fall back to the overview for an unknown name", async () => {
    open(aRun(), {}, "/runs/1/moon");
    await heading();
    expect(selected()).toBe("Overview");
  });

  it("include System only with system metrics", async () => {
    open(aRun());
    await heading();
    expect(screen.queryByRole("tab", { name: "System" })).toBeNull();
  });

  it("include System as soon as there are system metrics", async () => {
    open(aRun(), { "GET /runs/1/metric-names": ["episode/return", "system/cpu_percent"] });
    expect(await screen.findByRole("tab", { name: "System" })).toBeTruthy();
  });
});

describe("the overview", () => {
  const about = async () => within(await screen.findByRole("region", { name: "About this run" }));

  const failedBy = (message: string, config = aRun().config) => {
    const failure = { message, traceback: `Traceback: line 3\nRuntimeError: ${message}` };
    return aRun({ state: "failed", state_reason: message, failure, config });
  };

  it("shows the traceback of a failed run, and the reason only once", async () => {
    open(failedBy("the game broke"));
    await screen.findByText("Traceback: line 3");
    expect(screen.getAllByText(/the game broke/)).toHaveLength(1);
    await userEvent.click(screen.getByRole("tab", { name: "Config" }));
    expect(await screen.findAllByText(/the game broke/)).toHaveLength(1);
  });

  it("can launch a run again on another device if its GPU is missing", async () => {
    const message = "device is cuda, but this machine has no GPU that torch can use: choose auto or cpu";
    const { router, server } = open(failedBy(message, { ...aRun().config, device: "cuda" }), {
      "POST /runs/1/clone": aRun({ id: 8 }),
    });
    await userEvent.click(await screen.findByRole("button", { name: "Launch again with device auto" }));
    await waitFor(() => expect(router.state.location.pathname).toBe("/runs/8"));
    expect(server.of("POST /runs/1/clone").map(({ body }) => body)).toEqual([
      { overrides: { device: "auto" } },
    ]);
  });

  it("names the setting to lower if memory was short", async () => {
    open(failedBy("needs 90 GiB of memory: lower num_envs"));
    const link = await screen.findByRole("link", { name: "Launch again with lower num envs…" });
    expect(link.getAttribute("href")).toBe("/launch?like=1");
  });

  it("shows the training time without pauses, and the start from scratch", async () => {
    open(aFinishedRun({ trained_seconds: 45 * 60 }));
    expect((await about()).getByText("45 min")).toBeTruthy();
    expect((await about()).getByText("scratch")).toBeTruthy();
  });

  it("shows no duration of an import whose files have no times", async () => {
    open(aReportedRun({ origin: "imported", origin_label: "CSV", state: "finished", trained_seconds: 0 }));
    expect((await about()).getByTitle("The imported files have no times").textContent).toBe("unknown");
  });

  it("names the parent checkpoint of a fork", async () => {
    open(aRun({ parent: { run_id: 4, checkpoint_id: 9, step: 2_000_000 } }));
    const parent = (await about()).getByRole("link", { name: "run 4 at 2 M steps" });
    expect(parent.getAttribute("href")).toBe("/runs/4");
  });

  it("saves notes on blur, only if they changed", async () => {
    const { server } = open(aRun({ notes: "Slow." }), { "PATCH /runs/1": aRun({ notes: "Slow. Fine." }) });
    const notes = await screen.findByLabelText("Notes");
    await userEvent.click(notes);
    await userEvent.tab();
    expect(server.of("PATCH /runs/1")).toEqual([]);
    await userEvent.type(notes, " Fine.");
    await userEvent.tab();
    await waitFor(() =>
      expect(server.of("PATCH /runs/1").map(({ body }) => body)).toEqual([{ notes: "Slow. Fine." }]),
    );
  });

  it("saves notes if the user leaves the page while typing", async () => {
    const { server, unmount } = open(aRun(), { "PATCH /runs/1": aRun({ notes: "Slow." }) });
    await userEvent.type(await screen.findByLabelText("Notes"), "Slow.");
    unmount();
    await waitFor(() =>
      expect(server.of("PATCH /runs/1").map(({ body }) => body)).toEqual([{ notes: "Slow." }]),
    );
  });

  it("stores notes in the browser until the server has them", async () => {
    const offline = { "PATCH /runs/1": () => Promise.reject(new TypeError("away")) };
    const first = open(aRun(), offline);
    await userEvent.type(await screen.findByLabelText("Notes"), "Slow.");
    first.unmount();
    await waitFor(() => expect(first.server.of("PATCH /runs/1")).toHaveLength(1));
    const second = open(aRun(), { "PATCH /runs/1": aRun({ notes: "Slow." }) });
    const notes = await screen.findByLabelText<HTMLTextAreaElement>("Notes");
    expect(notes.value).toBe("Slow.");
    second.unmount();
    await waitFor(() => expect(second.server.of("PATCH /runs/1")).toHaveLength(1));
    await waitFor(() => expect(sessionStorage.length).toBe(0));
  });

  it("keeps new text in the notes while earlier text is being saved", async () => {
    let answer: (run: Run) => void = () => undefined;
    open(aRun(), { "PATCH /runs/1": () => new Promise<Run>((resolve) => (answer = resolve)) });
    const notes = await screen.findByLabelText<HTMLTextAreaElement>("Notes");
    await userEvent.type(notes, "Slow.");
    await userEvent.tab();
    await userEvent.type(notes, " Fine.");
    answer(aRun({ notes: "Slow." }));
    await waitFor(() => expect(screen.queryByText("Saving…")).toBeNull());
    expect(notes.value).toBe("Slow. Fine.");
  });

  it("keeps a tag that is added while another is being saved", async () => {
    const answers: ((run: Run) => void)[] = [];
    const { server } = open(aRun(), {
      "PATCH /runs/1": () => new Promise<Run>((resolve) => answers.push(resolve)),
    });
    await userEvent.type(await screen.findByLabelText("Tags", { selector: "input" }), "a{Enter}b{Enter}");
    const sent = () => server.of("PATCH /runs/1").map(({ body }) => body);
    expect(sent()).toEqual([{ tags: ["a"] }]);
    answers[0]?.(aRun({ tags: ["a"] }));
    await waitFor(() => expect(sent()).toEqual([{ tags: ["a"] }, { tags: ["a", "b"] }]));
    answers[1]?.(aRun({ tags: ["a", "b"] }));
  });

  it("adds a tag with Enter", async () => {
    const { server } = open(aRun({ tags: ["a"] }), { "PATCH /runs/1": aRun({ tags: ["a", "b"] }) });
    await userEvent.type(await screen.findByLabelText("Tags", { selector: "input" }), "b{Enter}");
    await waitFor(() =>
      expect(server.of("PATCH /runs/1").map(({ body }) => body)).toEqual([{ tags: ["a", "b"] }]),
    );
  });
});
