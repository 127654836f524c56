import { act, fireEvent, screen } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { narrowScreen, openRuns } from "@/testing/runList";
import { aRun, runListOf } from "@/testing/runs";
import { type Asked, refusal } from "@/testing/server";
import RunsPage from "./RunsPage";

const show = () => renderPage(<RunsPage />);
afterEach(() => void vi.restoreAllMocks());

describe("the rows of a long list", () => {
  const MANY = Array.from({ length: 250 }, (_, at) => aRun({ id: 250 - at, name: `run ${250 - at}` }));
  const openMany = (answer: (offset: number) => object | Promise<object> = pageAt) =>
    openRuns({}, { "GET /runs": ({ query }: Asked) => answer(Number(query.get("offset") ?? 0)) });
  const pageAt = (offset: number) => runListOf(MANY.slice(offset, offset + 100), { total: MANY.length });

  /** Scroll until this row is at the top of the window. */
  function scrollToRow(row: number) {
    vi.spyOn(HTMLTableSectionElement.prototype, "getBoundingClientRect").mockReturnValue(
      new DOMRect(0, -48 * row, 1000, 48 * MANY.length),
    );
    fireEvent.scroll(window);
  }

  it("loads the rows that are scrolled to, without those before them", async () => {
    const server = openMany();
    show();
    await screen.findByText("run 250");
    expect(screen.getByRole("table", { name: "Runs" }).getAttribute("aria-rowcount")).toBe("251");
    scrollToRow(245);
    const row = (await screen.findByText("run 5")).closest("tr");
    expect(row?.getAttribute("aria-rowindex")).toBe("247");
    expect(row?.style.top).toBe(`${48 * 245}px`);
    expect(server.of("GET /runs").map(({ query }) => query.get("offset"))).toEqual([null, "200"]);
    expect(screen.queryByText("run 250")).toBeNull();
  });

  it("loads rows while they are scrolled through without a rest", async () => {
    const server = openMany();
    show();
    await screen.findByText("run 250");
    let row = 130;
    await vi.waitFor(
      () => {
        scrollToRow(row);
        row = row === 130 ? 131 : 130;
        expect(server.of("GET /runs").map(({ query }) => query.get("offset"))).toContain("100");
      },
      { interval: 10 },
    );
  });

  it("keeps the rows of the last filter until those of the next one arrive", async () => {
    let answer = (_page: object) => {};
    let isSlow = false;
    openMany((offset) => (isSlow ? new Promise<object>((resolve) => (answer = resolve)) : pageAt(offset)));
    const { router } = show();
    await screen.findByText("run 250");
    isSlow = true;
    await act(() => router.navigate("/?state=failed"));
    expect(screen.getByText("run 250")).toBeTruthy();
    await act(async () => answer(runListOf([aRun({ id: 7, name: "the failed one" })])));
    await screen.findByText("the failed one");
    expect(screen.queryByText("run 250")).toBeNull();
  });

  it("says that rows could not be loaded, and tries again", async () => {
    let isDown = false;
    openMany((offset) => (isDown && offset > 0 ? refusal(422, "Not now.") : pageAt(offset)));
    show();
    await screen.findByText("run 250");
    isDown = true;
    scrollToRow(230);
    const [retry] = await screen.findAllByRole("button", { name: "Not loaded. Try again" });
    isDown = false;
    fireEvent.click(retry as HTMLElement);
    await screen.findByText("run 20");
  });

  it("loads the next cards when their end scrolls into view", async () => {
    let notify: (entries: { isIntersecting: boolean }[]) => void = () => undefined;
    vi.stubGlobal(
      "IntersectionObserver",
      class {
        constructor(changed: typeof notify) {
          notify = changed;
        }
        observe() {}
        unobserve() {}
        disconnect() {}
      },
    );
    narrowScreen();
    openRuns(
      {},
      {
        "GET /runs": ({ query }: Asked) =>
          query.get("offset")
            ? runListOf([aRun({ id: 1, name: "the last one" })], { total: 101 })
            : runListOf(MANY.slice(0, 100), { total: 101 }),
        "GET /sparklines": [],
      },
    );
    show();
    await screen.findByText("Load more (100 of 101 shown)");
    act(() => notify([{ isIntersecting: true }]));
    await screen.findByText("the last one");
    expect(screen.queryByText(/^Load more/)).toBeNull();
    vi.unstubAllGlobals();
  });
});
