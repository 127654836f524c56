import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { LogLine, Run } from "@/api/types";
import { downloads } from "@/testing/downloads";
import { renderPage } from "@/testing/render";
import { aFinishedRun, aRun } from "@/testing/runs";
import { type Asked, refusal, serve } from "@/testing/server";
import { fakeStreams, stream } from "@/testing/stream";
import { LogTab } from "./LogTab";

const PAGE = 500;

const line = (id: number, message = `line ${id}`, level: LogLine["level"] = "info"): LogLine => ({
  id,
  time: "2026-01-01T10:00:00Z",
  attempt: 1,
  level,
  message,
});
const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => line(from + at));

beforeEach(() => {
  fakeStreams();
  // jsdom lays nothing out: the log is as high as twenty lines.
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(400);
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockReturnValue(20);
});

/** A log that answers as the server does: from an id on, or its end before an id. */
function open(written: LogLine[], run: Run = aRun()) {
  const server = serve({
    "GET /runs/1/log": ({ query }: Asked) => {
      const { after, before, search } = Object.fromEntries(query);
      const found = written.filter(({ message }) => message.includes(search ?? ""));
      const items = after
        ? found.filter(({ id }) => id > Number(after)).slice(0, PAGE)
        : found.filter(({ id }) => id < Number(before ?? Infinity)).slice(-PAGE);
      return { items, next_after: null };
    },
  });
  renderPage(<LogTab run={run} />, { live: true });
  const asked = () => server.of("GET /runs/1/log").map(({ query }) => query.toString());
  return { server, asked };
}

const box = () => screen.getByRole("log");
const words = (text: string) => screen.findByText(text);

describe("the log of a run", () => {
  it("shows its lines with their level, and counts them", async () => {
    open([line(1, "started"), line(2, "something is odd", "warning")]);
    const odd = await words("something is odd");
    expect(odd.closest("[data-level]")?.getAttribute("data-level")).toBe("warning");
    expect(screen.getByText("2 lines")).toBeTruthy();
  });

  it("writes the hour after midnight as 00", async () => {
    open([{ ...line(1), time: new Date(2026, 0, 1, 0, 5, 0).toISOString() }]);
    expect((await words("line 1")).parentElement?.textContent).toContain("00:05:00");
  });

  it("ends with the traceback of a run that failed", async () => {
    const failure = { message: "boom", traceback: "Traceback: line 3" };
    open([line(1, "Failed: boom")], aRun({ state: "failed", failure }));
    const region = await screen.findByRole("region", { name: "Traceback" });
    expect(region.textContent).toContain("Traceback: line 3");
  });

  it("stops following the end when the scrollbar is dragged up", async () => {
    open(lines(1, 60));
    await words("60 lines");
    vi.spyOn(box(), "scrollHeight", "get").mockReturnValue(1200);
    fireEvent.scroll(box(), { target: { scrollTop: 800 } });
    expect(screen.getByLabelText<HTMLInputElement>("Follow the end").checked).toBe(true);
    fireEvent.scroll(box(), { target: { scrollTop: 300 } });
    expect(screen.getByLabelText<HTMLInputElement>("Follow the end").checked).toBe(false);
  });

  it("grows as the run writes, and asks only for what is new", async () => {
    const written = [line(1), line(2)];
    const { asked } = open(written);
    await words("line 2");
    written.push(line(3));
    act(() => stream().say("run.log", '{"run_id": 1}'));
    await words("line 3");
    expect(asked()).toEqual(["limit=500", "after=2&limit=500"]);
  });

  it("leaves another run's lines alone", async () => {
    const written = [line(1)];
    const { asked } = open(written);
    await words("line 1");
    act(() => stream().say("run.log", '{"run_id": 2}'));
    act(() => stream().say("run.metrics", '{"run_id": 1}'));
    expect(asked()).toHaveLength(1);
  });

  it("fetches what it missed when the stream has been away", async () => {
    const written = [line(1)];
    open(written);
    await words("line 1");
    written.push(line(2));
    act(() => stream().say("refetch"));
    await words("line 2");
  });

  it("fetches older lines on request, as long as there are some", async () => {
    const { asked } = open(lines(1, PAGE + 3));
    await words("500 lines");
    await userEvent.click(screen.getByText("Show older lines"));
    await words("503 lines");
    expect(asked().at(-1)).toBe("before=4&limit=500");
    expect(screen.queryByText("Show older lines")).toBeNull();
  });

  it("leaves what is read where it is when older lines come before it", async () => {
    open(lines(1, PAGE + 3));
    await words("500 lines");
    box().scrollTop = 0;
    await userEvent.click(screen.getByText("Show older lines"));
    await words("503 lines");
    expect(box().scrollTop).toBe(3 * 20);
  });

  it("is searched by the server", async () => {
    const { asked } = open([line(1, "loss 3"), line(2, "reward 4"), line(3, "loss 5")]);
    await words("3 lines");
    await userEvent.type(screen.getByLabelText("Search the log"), "loss");
    await words("2 matches");
    expect(screen.queryByText("reward 4")).toBeNull();
    expect(asked().at(-1)).toBe("limit=500&search=loss");
  });

  it("says that nothing was found", async () => {
    open([line(1)]);
    await userEvent.type(screen.getByLabelText("Search the log"), "moon");
    await words("No line has “moon”.");
  });

  it.each([
    [aRun(), "Log lines appear here as the run writes them."],
    [aFinishedRun(), "This run wrote nothing."],
  ])("says whether lines will come where there are none", async (run, text) => {
    open([], run);
    await words(text);
  });

  it("does not say that there are none before it has been fetched", async () => {
    serve({ "GET /runs/1/log": () => new Promise<object>(() => undefined) });
    renderPage(<LogTab run={aFinishedRun()} />, { live: true });
    expect((await screen.findByRole("status")).textContent).toBe("Loading…");
    expect(screen.queryByText("This run wrote nothing.")).toBeNull();
  });

  it("leaves out older lines that come once another search is shown", async () => {
    const older: ((answer: object) => void)[] = [];
    serve({
      "GET /runs/1/log": ({ query }: Asked) =>
        query.has("before")
          ? new Promise<object>((resolve) => older.push(resolve))
          : { items: query.get("search") ? [line(900, "loss 3")] : lines(500, 999), next_after: null },
    });
    renderPage(<LogTab run={aRun()} />, { live: true });
    await words("500 lines");
    await userEvent.click(screen.getByText("Show older lines"));
    await userEvent.type(screen.getByLabelText("Search the log"), "loss");
    await words("1 match");
    await act(async () => {
      older[0]?.({ items: lines(1, 499), next_after: null });
      await new Promise((resolve) => setTimeout(resolve, 0));
    });
    expect(screen.getByText("1 match")).toBeTruthy();
  });

  it("keeps its lines while the server is away, and says so", async () => {
    const { server } = open([line(1)]);
    await words("line 1");
    vi.mocked(globalThis.fetch).mockRejectedValue(new TypeError("Failed to fetch"));
    act(() => stream().say("run.log", '{"run_id": 1}'));
    await words("Not up to date: the server does not answer");
    expect(screen.getByText("line 1")).toBeTruthy();
    expect(server.asked).toHaveLength(1);
  });

  it("is fetched on request when it could not be fetched at first", async () => {
    let answers = 0;
    serve({
      "GET /runs/1/log": () =>
        answers++ === 0 ? refusal(500, "The log is away.") : { items: [line(1)], next_after: null },
    });
    renderPage(<LogTab run={aRun()} />, { live: true });
    await words("The log is away.");
    await userEvent.click(screen.getByText("Try again"));
    await words("line 1");
  });
});

describe("the end of a log", () => {
  const follows = () => screen.getByLabelText<HTMLInputElement>("Follow the end").checked;

  it("is followed until the reader scrolls up, and again on request", async () => {
    open(lines(1, 5));
    await words("line 1");
    expect(follows()).toBe(true);
    fireEvent.wheel(box(), { deltaY: -100 });
    expect(follows()).toBe(false);
    await userEvent.click(screen.getByText("Jump to the end"));
    expect(follows()).toBe(true);
    expect(screen.queryByText("Jump to the end")).toBeNull();
  });

  it("is left with a key too, and followed again by scrolling down to it", async () => {
    open(lines(1, 5));
    await words("line 1");
    fireEvent.keyDown(box(), { key: "PageUp" });
    expect(follows()).toBe(false);
    Object.defineProperties(box(), {
      scrollHeight: { value: 1000 },
      clientHeight: { value: 400 },
      scrollTop: { value: 590 },
    });
    fireEvent.scroll(box());
    expect(follows()).toBe(true);
  });
});

it("saves the whole log, page by page", async () => {
  const saved = downloads();
  const { asked } = open(lines(1, PAGE + 2));
  await words("500 lines");
  await userEvent.click(screen.getByText("Download log"));
  await waitFor(() => expect(saved.map(({ name }) => name)).toEqual(["run-1.log"]));
  const text = await saved[0]?.text();
  expect(text?.split("\n")).toHaveLength(PAGE + 3);
  expect(text).toContain("2026-01-01T10:00:00Z [attempt 1] INFO line 502\n");
  expect(asked().slice(1)).toEqual(["after=0&limit=500", "after=500&limit=500"]);
});
