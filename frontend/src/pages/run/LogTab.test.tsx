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
  // jsdom has no layout, so give the log the height of twenty lines.
  vi.spyOn(Element.prototype, "clientHeight", "get").mockReturnValue(400);
  vi.spyOn(HTMLElement.prototype, "offsetHeight", "get").mockReturnValue(20);
});

/** Serve a log like the server: lines after an id, or the last lines before an id. */
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
const findText = (text: string) => screen.findByText(text);

describe("the log of a run", () => {
  it("shows and counts lines with their levels", async () => {
    open([line(1, "started"), line(2, "something is odd", "warning")]);
    const odd = await findText("something is odd");
    expect(odd.closest("[data-level]")?.getAttribute("data-level")).toBe("warning");
    expect(screen.getByText("2 lines")).toBeTruthy();
  });

  it("shows the hour after midnight as 00", async () => {
    open([{ ...line(1), time: new Date(2026, 0, 1, 0, 5, 0).toISOString() }]);
    expect((await findText("line 1")).parentElement?.textContent).toContain("00:05:00");
  });

  it("ends with the traceback of a failed run", async () => {
    const failure = { message: "boom", traceback: "Traceback: line 3" };
    open([line(1, "Failed: boom")], aRun({ state: "failed", failure }));
    const region = await screen.findByRole("region", { name: "Traceback" });
    expect(region.textContent).toContain("Traceback: line 3");
  });

  it("stops following when the scrollbar is dragged up", async () => {
    open(lines(1, 60));
    await findText("60 lines");
    vi.spyOn(box(), "scrollHeight", "get").mockReturnValue(1200);
    fireEvent.scroll(box(), { target: { scrollTop: 800 } });
    expect(screen.getByLabelText<HTMLInputElement>("Follow log").checked).toBe(true);
    fireEvent.scroll(box(), { target: { scrollTop: 300 } });
    expect(screen.getByLabelText<HTMLInputElement>("Follow log").checked).toBe(false);
  });

  it("grows as the run writes, and requests only new lines", async () => {
    const written = [line(1), line(2)];
    const { asked } = open(written);
    await findText("line 2");
    written.push(line(3));
    act(() => stream().say("run.log", '{"run_id": 1}'));
    await findText("line 3");
    expect(asked()).toEqual(["limit=500", "after=2&limit=500"]);
  });

  it("ignores events of other runs", async () => {
    const written = [line(1)];
    const { asked } = open(written);
    await findText("line 1");
    act(() => stream().say("run.log", '{"run_id": 2}'));
    act(() => stream().say("run.metrics", '{"run_id": 1}'));
    expect(asked()).toHaveLength(1);
  });

  it("fetches missed lines after the stream reconnects", async () => {
    const written = [line(1)];
    open(written);
    await findText("line 1");
    written.push(line(2));
    act(() => stream().say("refetch"));
    await findText("line 2");
  });

  it("loads older lines on request until the start is reached", async () => {
    const { asked } = open(lines(1, PAGE + 3));
    await findText("500 lines");
    await userEvent.click(screen.getByText("Show older lines"));
    await findText("503 lines");
    expect(asked().at(-1)).toBe("before=4&limit=500");
    expect(screen.queryByText("Show older lines")).toBeNull();
  });

  it("keeps the scroll position when older lines are loaded", async () => {
    open(lines(1, PAGE + 3));
    await findText("500 lines");
    box().scrollTop = 0;
    await userEvent.click(screen.getByText("Show older lines"));
    await findText("503 lines");
    expect(box().scrollTop).toBe(3 * 20);
  });

  it("is searched by the server", async () => {
    const { asked } = open([line(1, "loss 3"), line(2, "reward 4"), line(3, "loss 5")]);
    await findText("3 lines");
    await userEvent.type(screen.getByLabelText("Search log"), "loss");
    await findText("2 matches");
    expect(screen.queryByText("reward 4")).toBeNull();
    expect(asked().at(-1)).toBe("limit=500&search=loss");
  });

  it("says that no lines match", async () => {
    open([line(1)]);
    await userEvent.type(screen.getByLabelText("Search log"), "moon");
    await findText("No lines contain “moon”.");
  });

  it.each([
    [aRun(), "Log lines appear here as the run writes them."],
    [aFinishedRun(), "This run wrote no log lines."],
  ])("says whether to expect lines if there are none", async (run, text) => {
    open([], run);
    await findText(text);
  });

  it("does not claim to be empty before it is loaded", async () => {
    serve({ "GET /runs/1/log": () => new Promise<object>(() => undefined) });
    renderPage(<LogTab run={aFinishedRun()} />, { live: true });
    expect((await screen.findByRole("status")).textContent).toBe("Loading…");
    expect(screen.queryByText("This run wrote no log lines.")).toBeNull();
  });

  it("ignores older lines that arrive after the search changed", async () => {
    const older: ((answer: object) => void)[] = [];
    serve({
      "GET /runs/1/log": ({ query }: Asked) =>
        query.has("before")
          ? new Promise<object>((resolve) => older.push(resolve))
          : { items: query.get("search") ? [line(900, "loss 3")] : lines(500, 999), next_after: null },
    });
    renderPage(<LogTab run={aRun()} />, { live: true });
    await findText("500 lines");
    await userEvent.click(screen.getByText("Show older lines"));
    await userEvent.type(screen.getByLabelText("Search log"), "loss");
    await findText("1 match");
    await act(async () => {
      older[0]?.({ items: lines(1, 499), next_after: null });
      await new Promise((resolve) => setTimeout(resolve, 0));
    });
    expect(screen.getByText("1 match")).toBeTruthy();
  });

  it("keeps its lines and shows a warning while the server is unreachable", async () => {
    const { server } = open([line(1)]);
    await findText("line 1");
    vi.mocked(globalThis.fetch).mockRejectedValue(new TypeError("Failed to fetch"));
    act(() => stream().say("run.log", '{"run_id": 1}'));
    await findText("Out of date: the server does not respond");
    expect(screen.getByText("line 1")).toBeTruthy();
    expect(server.asked).toHaveLength(1);
  });

  it("can be retried after a failed load", async () => {
    let answers = 0;
    serve({
      "GET /runs/1/log": () =>
        answers++ === 0 ? refusal(500, "The log is unavailable.") : { items: [line(1)], next_after: null },
    });
    renderPage(<LogTab run={aRun()} />, { live: true });
    await findText("The log is unavailable.");
    await userEvent.click(screen.getByText("Try again"));
    await findText("line 1");
  });
});

describe("the end of a log", () => {
  const follows = () => screen.getByLabelText<HTMLInputElement>("Follow log").checked;

  it("is followed until the user scrolls up, and again on request", async () => {
    open(lines(1, 5));
    await findText("line 1");
    expect(follows()).toBe(true);
    fireEvent.wheel(box(), { deltaY: -100 });
    expect(follows()).toBe(false);
    await userEvent.click(screen.getByText("Jump to end"));
    expect(follows()).toBe(true);
    expect(screen.queryByText("Jump to end")).toBeNull();
  });

  it("is no longer followed after PageUp, and followed again after scrolling down", async () => {
    open(lines(1, 5));
    await findText("line 1");
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

it("downloads the whole log, page by page", async () => {
  const saved = downloads();
  const { asked } = open(lines(1, PAGE + 2));
  await findText("500 lines");
  await userEvent.click(screen.getByText("Download log"));
  await waitFor(() => expect(saved.map(({ name }) => name)).toEqual(["run-1.log"]));
  const text = await saved[0]?.text();
  expect(text?.split("\n")).toHaveLength(PAGE + 3);
  expect(text).toContain("2026-01-01T10:00:00Z [attempt 1] INFO line 502\n");
  expect(asked().slice(1)).toEqual(["after=0&limit=500", "after=500&limit=500"]);
});
