import { describe, expect, it } from "vitest";
import { aReportedRun, aRun } from "@/testing/runs";
import { axesOf, figureRequest, DEFAULT_VIEW, readView, readZoom, writeView } from "./curveView";

const view = (query: string) => readView(new URLSearchParams(query));

describe("the view in the URL", () => {
  it("round-trips", () => {
    const axes = {
      x: "epoch",
      smoothing: 0.25,
      xLog: true,
      yLog: true,
      clip: true,
      ancestry: false,
    } as const;
    const wanted = {
      ...axes,
      grouped: false,
      by: ["gamma", "t_max"],
      center: "iqm",
      band: "range",
      seeds: true,
      marks: true,
    } as const;
    expect(readView(writeView(new URLSearchParams(), wanted))).toEqual(wanted);
  });

  it("omits defaults and keeps other parameters", () => {
    expect(writeView(new URLSearchParams("runs=1,2&x=frames&y_log=1"), DEFAULT_VIEW).toString()).toBe(
      "runs=1%2C2",
    );
  });

  it("keeps the zoom unless its axis changes", () => {
    const address = new URLSearchParams("zoom=1:2");
    const zoomIn = (changes: object) => readZoom(writeView(address, { ...DEFAULT_VIEW, ...changes }), false);
    expect(zoomIn({ smoothing: 0.1, yLog: true })).toEqual([1, 2]);
    expect(zoomIn({ x: "time" })).toBeNull();
    expect(zoomIn({ xLog: true })).toBeNull();
  });

  it("ignores an invalid zoom", () => {
    const zoom = (text: string, log = false) => readZoom(new URLSearchParams({ zoom: text }), log);
    expect(zoom("-1:2")).toEqual([-1, 2]);
    expect(zoom("-1:2", true)).toBeNull();
    for (const text of ["2:1", "1:x", "1", "", "a:1:2", "1:Infinity"]) expect(zoom(text)).toBeNull();
  });

  it("distinguishes no smoothing from the default", () => {
    expect(view("smoothing=0").smoothing).toBe(0);
    expect(view("").smoothing).toBe(DEFAULT_VIEW.smoothing);
    expect(view("smoothing=").smoothing).toBe(DEFAULT_VIEW.smoothing);
  });

  it("replaces invalid values by the defaults", () => {
    expect(view("x=moons&smoothing=lots&x_log=yes")).toEqual(DEFAULT_VIEW);
    expect(view("smoothing=7").smoothing).toBe(0.99);
  });
});

it("offers no frames and epochs if all runs are logged by scripts", () => {
  expect(axesOf([aReportedRun(), aReportedRun()])).toEqual(["step", "time"]);
  expect(axesOf([aReportedRun(), aRun()])).toEqual(["step", "frames", "epoch", "time"]);
  expect(axesOf([])).toContain("frames");
});

describe("figureRequest", () => {
  it("has the parameters of the view, without log axes that are off", () => {
    expect(figureRequest(DEFAULT_VIEW, null, 400)).toEqual({
      x: "step",
      smoothing: 0.6,
      ancestry: true,
      buckets: 400,
    });
  });

  it("groups several runs over their seeds by default", () => {
    const asked = (changes: object) => figureRequest({ ...DEFAULT_VIEW, ...changes }, null, 400, true);
    expect(asked({})).toMatchObject({ group: "seed", center: "mean", band: "bootstrap" });
    expect(asked({ band: "range", seeds: true })).toMatchObject({ band: "range", seeds: true });
    expect(asked({ grouped: false })).toEqual(figureRequest(DEFAULT_VIEW, null, 400));
  });

  it("requests only the zoomed range", () => {
    const view = { ...DEFAULT_VIEW, yLog: true };
    expect(figureRequest(view, [10.5, 20], 400)).toMatchObject({
      from: 10.5,
      to: 20,
      y_log: true,
    });
  });
});
