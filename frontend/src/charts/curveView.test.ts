import { describe, expect, it } from "vitest";
import { figureRequest, DEFAULT_VIEW, readView, writeView } from "./curveView";

const view = (query: string) => readView(new URLSearchParams(query));

describe("the view in the URL", () => {
  it("comes back as it was written", () => {
    const wanted = { x: "epoch", smoothing: 0.25, xLog: true, yLog: true } as const;
    expect(readView(writeView(new URLSearchParams(), wanted))).toEqual(wanted);
  });

  it("leaves the default out and all else alone", () => {
    expect(writeView(new URLSearchParams("runs=1,2&x=frames&y_log=1"), DEFAULT_VIEW).toString()).toBe(
      "runs=1%2C2",
    );
  });

  it("keeps no smoothing apart from smoothing not named", () => {
    expect(view("smoothing=0").smoothing).toBe(0);
    expect(view("").smoothing).toBe(DEFAULT_VIEW.smoothing);
    expect(view("smoothing=").smoothing).toBe(DEFAULT_VIEW.smoothing);
  });

  it("takes the default for what it does not understand", () => {
    expect(view("x=moons&smoothing=lots&x_log=yes")).toEqual(DEFAULT_VIEW);
    expect(view("smoothing=7").smoothing).toBe(0.99);
  });
});

describe("figureRequest", () => {
  it("names the view, and no log axis that is off", () => {
    expect(figureRequest(DEFAULT_VIEW, null, 400)).toEqual({
      x: "step",
      smoothing: 0.6,
      buckets: 400,
    });
  });

  it("asks for the zoomed part alone", () => {
    const view = { ...DEFAULT_VIEW, yLog: true };
    expect(figureRequest(view, [10.5, 20], 400)).toMatchObject({
      from: 10.5,
      to: 20,
      y_log: true,
    });
  });
});
