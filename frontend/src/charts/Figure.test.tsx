import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { figureKeys } from "@/api/figures";
import { downloads } from "@/testing/downloads";
import library from "@/testing/plotly";
import { renderPage } from "@/testing/render";
import { type Asked, refusal, serve } from "@/testing/server";
import { type CurveView, DEFAULT_VIEW } from "./curveView";
import { LinkedFigure } from "./AddressFigure";
import { Figure } from "./Figure";
import type { Chart } from "./metrics";

/** Recorded calls of Plotly, and `drag`, which simulates a zoom of the user. */
const plotly = {
  drawn: [] as { data: unknown[]; layout: Record<string, unknown> }[],
  drag: (_change: object): void => undefined,
  /** Charts that listen to events. */
  listening: new Set<Element>(),
  hover: vi.fn(),
  unhover: vi.fn(),
  relayout: vi.fn(),
  toImage: vi.fn(),
};

/** Draw as Plotly does: with listeners of its events. */
function draw(element: HTMLElement, data: unknown[], layout: Record<string, unknown>) {
  plotly.drawn.push({ data, layout });
  const on = (event: string, listener: (change: object) => void) => {
    if (event === "plotly_relayout") plotly.drag = (change) => act(() => listener(change));
    plotly.listening.add(element);
    element.addEventListener(event, (sent) => listener((sent as CustomEvent<object>).detail));
  };
  Object.assign(element, { on, data, layout, removeAllListeners: () => undefined });
}

const RETURN: Chart = { title: "Return per episode", metrics: ["episode/return"] };
const LINE = {
  data: [{ uid: "1", x: [1, 2], y: [3, 4] }],
  layout: { xaxis: { title: { text: "Steps" } } },
  cursor: "first",
  complete: true,
};
const CURVES = "GET /figures/curves";
const TOGETHER = "GET /figures/together";

let look: (seen: boolean) => void = () => undefined;
let lookAtAll: () => void = () => undefined;

beforeEach(() => {
  plotly.drawn = [];
  plotly.listening.clear();
  vi.spyOn(library, "react").mockImplementation(draw);
  plotly.relayout = vi.spyOn(library, "relayout");
  plotly.toImage = vi.spyOn(library, "toImage");
  plotly.hover = vi.spyOn(library.Fx, "hover");
  plotly.unhover = vi.spyOn(library.Fx, "unhover");
  lookAtAll = () => undefined;
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(changed: (entries: object[]) => void) {
        look = (isIntersecting) => act(() => changed([{ isIntersecting }]));
        const before = lookAtAll;
        lookAtAll = () => {
          before();
          act(() => changed([{ isIntersecting: true }]));
        };
      }
      observe() {}
      disconnect() {}
    },
  );
});

interface Shown {
  chart?: Chart;
  runs?: number[];
  view?: CurveView;
  answer?: object | ((asked: Asked) => object | Promise<object>);
  points?: object;
  at?: string;
}

function show(shown: Shown = {}) {
  const { chart = RETURN, runs = [1], view = DEFAULT_VIEW, answer = LINE, points = {}, at = "/" } = shown;
  const server = serve({
    [CURVES]: answer,
    [TOGETHER]: answer,
    "GET /runs/1/metric-names": ["episode/return"],
    "GET /runs/1/metrics": points,
    "GET /runs/2/metric-names": [],
  });
  const { client, router } = renderPage(<Figure runs={runs} chart={chart} view={view} />, { at });
  const changed = () => act(() => client.invalidateQueries({ queryKey: figureKeys.all }));
  const queries = (name = CURVES) => server.of(name).map(({ query }) => Object.fromEntries(query));
  const address = () => decodeURIComponent(router.state.location.search);
  return { server, queries, changed, address };
}

/** Wait until charts are drawn, and listen to the events of Plotly. */
const drawings = (count: number) => waitFor(() => expect(plotly.listening.size).toBe(count));

async function seen(shown?: Shown) {
  const page = show(shown);
  look(true);
  await drawings(1);
  return page;
}

describe("a chart", () => {
  it("is not fetched before it is visible", async () => {
    const { server } = show();
    expect(server.asked).toEqual([]);
    look(true);
    expect((await screen.findByRole("img")).getAttribute("aria-label")).toBe(
      "Return per episode by steps, one run.",
    );
    await waitFor(() => expect(plotly.drawn.at(-1)?.data).toEqual(LINE.data));
  });

  it("names the values that a log axis hides, and resets the zoom of the linear axis", async () => {
    const logarithmic = { ...LINE, layout: { yaxis: { type: "log" } } };
    show({
      view: { ...DEFAULT_VIEW, yLog: true },
      answer: { ...logarithmic, data: [{ ...LINE.data[0], y: [-3, 4] }] },
    });
    look(true);
    expect(await screen.findByText("log y hides values of 0 or less")).toBeTruthy();
    await waitFor(() => expect(plotly.drawn.at(-1)?.layout["uirevision"]).toBe("step,log y"));
  });

  it("requests the runs, the metric and the view", async () => {
    const view = { ...DEFAULT_VIEW, x: "time", smoothing: 0.3, yLog: true } as const;
    const { queries } = await seen({ runs: [1, 2], view });
    expect(queries()).toEqual([
      {
        runs: "1,2",
        metric: "episode/return",
        x: "time",
        smoothing: "0.3",
        y_log: "true",
        ancestry: "true",
        buckets: "400",
        group: "seed",
        center: "mean",
        band: "bootstrap",
      },
    ]);
  });

  it("of several metrics requests them together, as shares if they are shares", async () => {
    const chart = { title: "Time", metrics: ["time/a", "time/b"], shares: true };
    const { queries } = await seen({ chart });
    expect(queries(TOGETHER)).toMatchObject([{ metrics: "time/a,time/b", shares: "true" }]);
    expect(plotly.drawn.at(-1)?.layout["showlegend"]).toBe(true);
  });

  it("of memory keeps the ticks of the server, in units of 1024", async () => {
    const ticks = { tickvals: [2 ** 29, 2 ** 30], ticktext: ["0.5 GiB", "1 GiB"] };
    const chart = { title: "Memory", metrics: ["system/rss_bytes"] };
    await seen({ chart, answer: { ...LINE, layout: { yaxis: ticks } } });
    expect(plotly.drawn.at(-1)?.layout["yaxis"]).toMatchObject(ticks);
  });

  it("never smooths counts", async () => {
    const { queries } = await seen({ chart: { ...RETURN, counts: true } });
    expect(queries()[0]?.["smoothing"]).toBe("0");
  });

  it("says that there are no points yet", async () => {
    show({ answer: { data: [], layout: {} } });
    look(true);
    expect(await screen.findByText("No points yet. Points appear here while the runs train.")).toBeTruthy();
  });

  it("offers no retry if the runs ended without its metric", async () => {
    const never = { type: "/problems/unknown-metric", title: "No such metric", detail: "None has it." };
    show({ answer: () => Response.json(never, { status: 404 }) });
    look(true);
    await screen.findByText("No points: these runs ended without reporting this metric.");
    expect(screen.queryByText("Try again")).toBeNull();
  });

  it("offers no retry if a run does not exist, and says so", async () => {
    show({ answer: () => refusal(404, "There is no run 1.") });
    look(true);
    await screen.findByText("The chart cannot be shown: There is no run 1.");
    expect(screen.queryByText("Try again")).toBeNull();
  });

  it.each([
    [
      "the server is away",
      () => Promise.reject(new TypeError("Failed to fetch")),
      "the server does not respond",
    ],
    ["its run was purged", () => refusal(404, "There is no run 1."), "There is no run 1."],
  ])("stays visible if %s, and says why it is out of date", async (_, later, why) => {
    let answer: () => object | Promise<object> = () => LINE;
    const { changed } = await seen({ answer: () => answer() });
    answer = later;
    await changed();
    await screen.findByText(`Out of date: ${why}`);
    expect(screen.getByRole("img")).toBeTruthy();
  });

  it("can be retried after a server error", async () => {
    let answers = 0;
    show({ answer: () => (answers++ === 0 ? refusal(500, "The database is locked.") : LINE) });
    look(true);
    await screen.findByText("The chart cannot be shown: The database is locked.");
    await userEvent.click(screen.getByText("Try again"));
    await screen.findByRole("img");
  });
});

describe("a chart of a run that trains", () => {
  it("is not refetched while it is out of view, and catches up when it is visible again", async () => {
    const { queries, changed } = await seen();
    look(false);
    await changed();
    await changed();
    expect(queries()).toHaveLength(1);
    look(true);
    await waitFor(() => expect(queries()).toHaveLength(2));
  });
});

describe("zooming", () => {
  it("fetches the chosen range in finer buckets, and can be reset", async () => {
    const { queries } = await seen();
    plotly.drag({ "xaxis.range[0]": 100, "xaxis.range[1]": 200 });
    await waitFor(() => expect(queries().at(-1)).toMatchObject({ from: "100", to: "200", buckets: "400" }));
    await userEvent.click(await screen.findByText("Show all"));
    expect(plotly.relayout.mock.lastCall?.[1]).toMatchObject({ "xaxis.autorange": true });
    plotly.drag({ "xaxis.autorange": true });
    await waitFor(() => expect(screen.queryByText("Show all")).toBeNull());
  });

  it("reads the exponents of a logarithmic axis", async () => {
    const { queries } = await seen({ view: { ...DEFAULT_VIEW, xLog: true } });
    plotly.drag({ "xaxis.range[0]": 2, "xaxis.range[1]": 4 });
    await waitFor(() => expect(queries().at(-1)).toMatchObject({ from: "100", to: "10000" }));
  });

  it("is stored in the URL for all charts of the page", async () => {
    const { address } = await seen({ at: "/?zoom=5:6" });
    plotly.drag({ "xaxis.range[0]": 100, "xaxis.range[1]": 200.0000000001 });
    await waitFor(() => expect(address()).toBe("?zoom=100:200"));
    plotly.drag({ "xaxis.autorange": true });
    await waitFor(() => expect(address()).toBe(""));
  });

  it("is read from the URL when the page is opened", async () => {
    const { queries } = await seen({ at: "/?zoom=100:200" });
    expect(queries()).toMatchObject([{ from: "100", to: "200" }]);
    expect(plotly.drawn.at(-1)?.layout["xaxis"]).toMatchObject({ range: [100, 200], autorange: false });
    await userEvent.click(await screen.findByText("Show all"));
    expect(plotly.relayout.mock.lastCall?.[1]).toMatchObject({ "xaxis.autorange": true });
  });

  it("fetches nothing if only y was dragged", async () => {
    const { queries } = await seen();
    plotly.drag({ "yaxis.range[0]": 0, "yaxis.range[1]": 1 });
    expect(queries()).toHaveLength(1);
    expect(screen.queryByText("Show all")).toBeNull();
  });
});

describe("charts with different x axes", () => {
  const open = async (...figures: string[]) => {
    const server = serve({ [CURVES]: LINE, "GET /figures/percentiles": LINE, "GET /figures/scatter": LINE });
    const { router } = renderPage(
      <>
        {figures.map((figure) => (
          <LinkedFigure key={figure} address={`/api/v1/figures/${figure}`} title={figure} height={300} />
        ))}
      </>,
    );
    lookAtAll();
    await drawings(figures.length);
    const send = (figure: string, event: string, detail: object) =>
      act(() => screen.getByRole("img", { name: figure }).dispatchEvent(new CustomEvent(event, { detail })));
    const asked = (name: string) => server.of(name).map(({ query }) => query.get("from"));
    return { send, asked, address: () => decodeURIComponent(router.state.location.search) };
  };

  it("zoom together if they have the same axis", async () => {
    const page = await open(
      "scatter?runs=1&x=id",
      "curves?runs=1&x=frames",
      "curves?runs=1",
      "percentiles?runs=1",
    );
    page.send("curves?runs=1", "plotly_relayout", { "xaxis.range[0]": 100, "xaxis.range[1]": 200 });
    await waitFor(() => expect(page.address()).toBe("?zoom-step=100:200"));
    await waitFor(() => expect(page.asked("GET /figures/percentiles")).toEqual([null, "100"]));
    expect(page.asked(CURVES)).toEqual([null, null, "100"]);
    expect(screen.getAllByText("Show all")).toHaveLength(2);
    page.send("scatter?runs=1&x=id", "plotly_relayout", { "xaxis.range[0]": 1, "xaxis.range[1]": 2 });
    await waitFor(() => expect(page.address()).toBe("?zoom-step=100:200&zoom-run:id=1:2"));
    page.send("percentiles?runs=1", "plotly_relayout", { "xaxis.autorange": true });
    await waitFor(() => expect(page.address()).toBe("?zoom-run:id=1:2"));
  });

  it("show the same position only in charts with the same axis", async () => {
    const page = await open("curves?runs=1", "curves?runs=1&x=frames", "percentiles?runs=1");
    const last = screen.getByRole("img", { name: "percentiles?runs=1" });
    for (const chart of screen.getAllByRole("img"))
      vi.spyOn(chart, "getBoundingClientRect").mockReturnValue(new DOMRect(0, 0, 400, 260));
    page.send("curves?runs=1", "plotly_hover", { xvals: [7], points: [] });
    await waitFor(() => expect(plotly.hover).toHaveBeenCalledExactlyOnceWith(last, { xval: 7 }, "xy", true));
  });
});

describe("hovering", () => {
  const others: Chart = { title: "Entropy", metrics: ["train/entropy"] };
  const hovered = (chart: HTMLElement | undefined) =>
    chart?.dispatchEvent(new CustomEvent("plotly_hover", { detail: { xvals: [7], points: [] } }));

  it("shows the same position in the other charts of the page", async () => {
    serve({ [CURVES]: LINE });
    renderPage(
      <>
        <Figure runs={[1]} chart={RETURN} view={DEFAULT_VIEW} />
        <Figure runs={[1]} chart={others} view={DEFAULT_VIEW} />
        <Figure runs={[1]} chart={others} view={{ ...DEFAULT_VIEW, x: "time" }} />
      </>,
    );
    lookAtAll();
    await drawings(3);
    const [first, second] = screen.getAllByRole("img");
    for (const chart of screen.getAllByRole("img"))
      vi.spyOn(chart, "getBoundingClientRect").mockReturnValue(new DOMRect(0, 0, 400, 260));
    hovered(first);
    await waitFor(() =>
      expect(plotly.hover).toHaveBeenCalledExactlyOnceWith(second, { xval: 7 }, "xy", true),
    );
    first?.dispatchEvent(new CustomEvent("plotly_unhover", { detail: {} }));
    await waitFor(() => expect(plotly.unhover).toHaveBeenCalledExactlyOnceWith(second));
  });
});

describe("the menu of a chart", () => {
  const choose = async (item: string) => {
    await userEvent.click(screen.getByLabelText("Menu of the chart Return per episode"));
    await userEvent.click(await screen.findByText(item));
  };

  it("saves the points that are shown", async () => {
    const saved = downloads();
    const series = { x: [150], mean: [1.5], min: [1], max: [2], last: [2], count: [4] };
    const { server } = await seen({ points: { run_id: 1, series: { "episode/return": series } } });
    plotly.drag({ "xaxis.range[0]": 100, "xaxis.range[1]": 200 });
    await choose("Download points (CSV)");
    await waitFor(() => expect(saved.map(({ name }) => name)).toEqual(["episode-return-runs-1.csv"]));
    expect(await saved[0]?.text()).toBe(
      "run,metric,step,mean,min,max,last,points\r\n1,episode/return,150,1.5,1,2,2,4\r\n",
    );
    const [{ query } = { query: new URLSearchParams() }] = server.of("GET /runs/1/metrics");
    expect([query.get("from"), query.get("to")]).toEqual(["100", "200"]);
  });

  it("saves the points of the other runs if one ended without the metric", async () => {
    const saved = downloads();
    const series = { x: [150], mean: [1.5], min: [1], max: [2], last: [2], count: [4] };
    await seen({ runs: [2, 1], points: { run_id: 1, series: { "episode/return": series } } });
    await choose("Download points (CSV)");
    await waitFor(() => expect(saved.map(({ name }) => name)).toEqual(["episode-return-runs-2-1.csv"]));
    expect(await saved[0]?.text()).toContain("\r\n1,episode/return,150,");
  });

  it("saves the picture under its title", async () => {
    const saved = downloads();
    plotly.toImage.mockResolvedValue("data:image/png;base64,AAAA");
    await seen();
    await choose("Save picture (PNG)");
    await waitFor(() => expect(saved.map(({ name }) => name)).toEqual(["episode-return-runs-1.png"]));
    expect(plotly.toImage.mock.lastCall?.[0]).toMatchObject({
      data: LINE.data,
      layout: { title: { text: "Return per episode" } },
    });
  });

  it("saves a vector image, and the figure itself", async () => {
    const saved = downloads();
    plotly.toImage.mockResolvedValue("data:image/svg+xml,AAAA");
    await seen();
    await choose("Save picture (SVG)");
    await waitFor(() => expect(saved.map(({ name }) => name)).toEqual(["episode-return-runs-1.svg"]));
    expect(plotly.toImage.mock.lastCall?.[1]).toMatchObject({ format: "svg" });
    await choose("Save figure (Plotly JSON)");
    await waitFor(() => expect(saved.at(-1)?.name).toBe("episode-return-runs-1.json"));
    expect(JSON.parse((await saved.at(-1)?.text()) ?? "")).toEqual({ data: LINE.data, layout: LINE.layout });
  });

  it("copies a link to the page with this chart in one click of its menu", async () => {
    userEvent.setup();
    window.history.replaceState(null, "", "/runs/1/curves?smooth=0.5");
    await seen();
    await choose("Copy link");
    const link = `${window.location.origin}/runs/1/curves?smooth=0.5#chart-episode-return-runs-1`;
    await waitFor(async () => expect(await navigator.clipboard.readText()).toBe(link));
    expect(document.getElementById("chart-episode-return-runs-1")?.tagName).toBe("FIGURE");
  });

  it("is scrolled to if the address names it", async () => {
    const scrolled = vi.spyOn(HTMLElement.prototype, "scrollIntoView");
    await seen({ at: "/#chart-episode-return-runs-1" });
    expect(scrolled.mock.contexts.map((element) => (element as Element).id)).toEqual([
      "chart-episode-return-runs-1",
    ]);
  });

  it("copies notebook code that requests the shown figure", async () => {
    userEvent.setup();
    await seen({ at: "/?zoom=100:200" });
    await choose("Copy for a notebook");
    await waitFor(async () => expect(await navigator.clipboard.readText()).toContain("plotly"));
    const [, asked = ""] = /Request\("([^"]+)"/.exec(await navigator.clipboard.readText()) ?? [];
    const { origin, pathname, searchParams } = new URL(asked);
    expect([origin, pathname]).toEqual([window.location.origin, "/api/v1/figures/curves"]);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      runs: "1",
      metric: "episode/return",
      from: "100",
    });
  });

  it("shows that saving failed", async () => {
    downloads();
    await seen({ points: refusal(500, "Away.") });
    await choose("Download points (CSV)");
    await screen.findByText("Away.");
    await userEvent.click(screen.getByLabelText("Menu of the chart Return per episode"));
    expect(await screen.findByText("Saving failed. Try again.")).toBeTruthy();
  });
});
