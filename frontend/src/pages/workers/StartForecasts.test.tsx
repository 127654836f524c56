import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { StartCalibration } from "@/api/types";
import { renderPage } from "@/testing/render";
import { type Asked, refusal, serve } from "@/testing/server";
import { StartForecasts } from "./StartForecasts";
import { describeCalibration, drawWaits } from "./waits";

const SCORE = { forecasts: 60, on_time: 54, share: 0.9, low: 0.8, high: 0.95 };
const FOUND: StartCalibration = {
  days: 30,
  stated_share: 0.9,
  min_forecasts: 10,
  undisturbed: SCORE,
  all: { forecasts: 80, on_time: 60, share: 0.75, low: 0.6, high: 0.86 },
  relative_error: 0.256,
  waiting: 4,
  without_time: 7,
  waits: [
    { forecasts: 20, expected: 90, middle: 100, early: 60, late: 130 },
    { forecasts: 40, expected: 7200, middle: 7000, early: 6000, late: 9000 },
  ],
};

const open = (found: object) => {
  const server = serve({ "GET /start-forecasts": found });
  renderPage(<StartForecasts />);
  return server;
};
const facts = () => [...document.querySelectorAll("dd")].map(({ textContent }) => textContent);

describe("forecasts of starts", () => {
  it("are compared with what happened", async () => {
    open(FOUND);
    expect(
      await screen.findByText(
        "90 % of runs started by the stated time. Forecasts state 90 %. The difference may be chance.",
      ),
    ).toBeTruthy();
    expect(facts()).toEqual([
      "54 of 60, 90 % (95 % interval 80 % to 95 %)",
      "60 of 80, 75 % (95 % interval 60 % to 86 %)",
      "26 % of the real wait, in the median",
      "4",
      "7",
    ]);
    expect(screen.getByText("Expected and real waits")).toBeTruthy();
  });

  it("are not judged if there are too few", async () => {
    const few = { forecasts: 9, on_time: 9, share: null, low: null, high: null };
    open({ ...FOUND, undisturbed: few, all: few, relative_error: null, waits: [] });
    expect(
      await screen.findByText(/^9 forecasts can be compared .* That is too few: a share needs 10\.$/),
    ).toBeTruthy();
    expect(facts()).toEqual(["9 of 9", "9 of 9", "4", "7"]);
    expect(screen.queryByText("Expected and real waits")).toBeNull();
  });

  it("are shown for a chosen period", async () => {
    const server = open(({ query }: Asked) => ({ ...FOUND, days: Number(query.get("days")) }));
    await userEvent.click(await screen.findByRole("radio", { name: "90 days" }));
    await waitFor(() =>
      expect(server.of("GET /start-forecasts").map(({ query }) => query.get("days"))).toEqual(["30", "90"]),
    );
  });

  it("say when they cannot be read", async () => {
    open(() => refusal(503, "The database is busy."));
    expect(await screen.findByText("The database is busy.")).toBeTruthy();
  });

  it("are too early or too cautious only outside the interval", () => {
    const at = (low: number, high: number) =>
      describeCalibration({ ...FOUND, undisturbed: { ...SCORE, low, high } });
    expect(at(0.7, 0.85)).toMatch(/They are too early\.$/);
    expect(at(0.92, 0.99)).toMatch(/They are too cautious\.$/);
    expect(at(0.7, 0.95)).toMatch(/may be chance\.$/);
  });

  it("are drawn with their quartiles on equal axes", () => {
    const { data, layout } = drawWaits(FOUND);
    expect(data[1]).toMatchObject({
      x: [90, 7200],
      y: [100, 7000],
      error_y: { array: [30, 2000], arrayminus: [40, 1000] },
    });
    expect(layout["xaxis"]).toMatchObject({ range: [Math.log10(40), Math.log10(13_500)] });
  });
});
