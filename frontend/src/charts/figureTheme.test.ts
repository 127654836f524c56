import { describe, expect, it } from "vitest";
import { hasUndrawable, type PlotlyFigure, roomOfBrokenNames, themed, zoomOf } from "./figureTheme";

const figure: PlotlyFigure = {
  data: [{ uid: "1:line", x: [1], y: [2], line: { color: "#ff0000" } }],
  layout: {
    template: { layout: { plot_bgcolor: "#e5ecf6" } },
    uirevision: "python",
    xaxis: { title: { text: "Steps" }, type: "log" },
    yaxis: { title: { text: "Return" } },
  },
};

describe("themed", () => {
  const dark = themed(figure, { scheme: "dark", revision: "r", legend: false, width: 800 }).layout;
  const light = themed(figure, { scheme: "light", revision: "r", legend: true, width: 800 }).layout;

  it("takes colors from the theme, not from the figure's template", () => {
    expect(dark).not.toHaveProperty("template");
    expect(dark.plot_bgcolor).not.toBe("#e5ecf6");
    expect(dark.plot_bgcolor).not.toBe(light.plot_bgcolor);
    expect(dark.font?.color).not.toBe(light.font?.color);
    expect(dark.xaxis?.gridcolor).not.toBe(light.xaxis?.gridcolor);
  });

  it("keeps the server's axes and the runs' colors", () => {
    expect(dark.xaxis).toMatchObject({ type: "log", title: { text: "Steps" } });
    expect(themed(figure, { scheme: "dark", revision: "r", legend: false, width: 800 }).data).toBe(
      figure.data,
    );
  });

  it("reserves at most a few rows below the plot for the legend", () => {
    const ofRuns = (runs: number, width = 800, name = "A3C, seed") => {
      const data = Array.from({ length: runs }, (_, run) => ({ uid: `${run}`, name: `${name} ${run}` }));
      const { margin, legend } = themed(
        { ...figure, data },
        { scheme: "light", revision: "r", legend: true, width },
      ).layout;
      return { below: Number(margin?.b), high: (legend as { maxheight: number }).maxheight };
    };
    for (const runs of [1, 4, 10, 50]) expect(ofRuns(runs).below).toBe(40 + ofRuns(runs).high);
    expect(ofRuns(1).high).toBeLessThan(30);
    expect(ofRuns(50).high).toBeLessThan(90);
    expect(ofRuns(2).high).toBe(ofRuns(1).high);
    expect(ofRuns(2, 300).high).toBeGreaterThan(ofRuns(1, 300).high);
    expect(ofRuns(2, 600, "PAAC on CartPole with a rate of 0.003, seed").high).toBeGreaterThan(
      ofRuns(1).high,
    );
    expect(dark.margin?.b).toBe(40);
  });

  it("reserves space for all names if the whole legend is shown", () => {
    const data = Array.from({ length: 50 }, (_, run) => ({ uid: `${run}`, name: `A3C, seed ${run}` }));
    const look = { scheme: "light", revision: "r", legend: true, width: 800 } as const;
    const scrolled = themed({ ...figure, data }, look);
    const whole = themed({ ...figure, data }, { ...look, wholeLegend: true });
    const added = Number(whole.layout.margin?.b) - Number(scrolled.layout.margin?.b);
    expect(added).toBeGreaterThan(4 * 19);
    expect(roomOfBrokenNames(whole)).toBe(added);
  });

  it("wraps a name that is wider than the plot, so that it is not cut off", () => {
    const shown = (name: string, width: number) => {
      const look = { scheme: "light", revision: "r", legend: true, width } as const;
      const { data, layout } = themed({ ...figure, data: [{ uid: "1", name, x: [1], y: [2] }] }, look);
      return { name: String(data[0]?.name), below: Number(layout.margin?.b) };
    };
    const long = "PAAC on CartPole with a rate of 0.003 and forty environments";
    expect(shown(long, 1200).name).toBe(long);
    const lines = shown(long, 340).name.split("<br>");
    expect(lines.join(" ")).toBe(long);
    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(line.length * 6.5).toBeLessThan(340 - 56 - 12 - 50);
    expect(shown(long, 340).below).toBeGreaterThan(shown("PAAC", 340).below);

    const word = "x".repeat(80);
    expect(shown(word, 340).name.replaceAll("<br>", "")).toBe(word);
    expect(shown(word, 340).name).toContain("<br>");
  });

  it("makes the figure higher for a few wrapped names", () => {
    const long = "PAAC on CartPole with a rate of 0.003 and forty environments, seed";
    const ofRuns = (runs: number, name: string, width = 340) => {
      const data = Array.from({ length: runs }, (_, run) => ({ uid: `${run}`, name: `${name} ${run}` }));
      const look = { scheme: "light", revision: "r", legend: true, width } as const;
      const shown = themed({ ...figure, data }, look);
      const lines = shown.data.flatMap((trace) => String(trace.name).split("<br>")).length;
      return { lines, below: Number(shown.layout.margin?.b), higher: roomOfBrokenNames(shown) };
    };
    const few = ofRuns(2, long);
    expect(few.lines).toBe(6);
    expect(few.below).toBeGreaterThan(40 + 6 * 19);
    expect(few.higher).toBe(2 * 19);
    expect(ofRuns(50, long)).toMatchObject({ below: ofRuns(4, long).below });
    for (const name of ["PAAC, seed", long]) expect(ofRuns(50, name, 2000).higher).toBe(0);
    // The width is not known yet.
    expect(ofRuns(2, long, 0)).toMatchObject({ lines: 2, higher: 0 });
  });

  it("uses the given revision, which keeps the user's zoom", () => {
    expect(dark.uirevision).toBe("r");
    expect(figure.layout.uirevision).toBe("python");
  });
});

describe("zoomOf", () => {
  it("reads a drag in both formats of Plotly", () => {
    expect(zoomOf({ "xaxis.range[0]": 5, "xaxis.range[1]": 9 }, false)).toEqual([5, 9]);
    expect(zoomOf({ "xaxis.range": [9, 5] }, false)).toEqual([5, 9]);
  });

  it("turns exponents of a log axis into values", () => {
    expect(zoomOf({ "xaxis.range[0]": 2, "xaxis.range[1]": 3 }, true)).toEqual([100, 1000]);
  });

  it("distinguishes a reset from a change of y only", () => {
    expect(zoomOf({ "xaxis.autorange": true, "yaxis.autorange": true }, false)).toBeNull();
    expect(zoomOf({ "yaxis.range[0]": 1, "yaxis.range[1]": 2 }, false)).toBeUndefined();
  });
});

it("knows whether a log axis omits points of a figure", () => {
  const drawn = (y: (number | null)[], type: "log" | "linear"): PlotlyFigure => ({
    data: [{ y }],
    layout: { yaxis: { type } },
  });
  expect(hasUndrawable(drawn([2, 0], "log"))).toBe(true);
  expect(hasUndrawable(drawn([2, null], "log"))).toBe(false);
  expect(hasUndrawable(drawn([2, 0], "linear"))).toBe(false);
});
