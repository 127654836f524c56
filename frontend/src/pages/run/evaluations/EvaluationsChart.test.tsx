import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { anEvaluation, anUnfinishedEvaluation, evaluationPage } from "@/testing/evaluations";
import { downloads } from "@/testing/downloads";
import plotly from "@/testing/plotly";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { everythingIsSeen } from "@/testing/seen";
import { serve } from "@/testing/server";
import { EvaluationsChart } from "./EvaluationsChart";

const FIGURE = {
  data: [{ uid: "1-no-op-5min", x: [250_000], y: [19.8] }],
  layout: {},
  cursor: "c",
  complete: true,
};

function open(at = "/") {
  everythingIsSeen();
  const items = [anUnfinishedEvaluation(2), anEvaluation(1)];
  const server = serve({
    "GET /figures/evaluations": FIGURE,
    "GET /runs/1/evaluations": evaluationPage(items),
  });
  renderPage(<EvaluationsChart run={aRun()} />, { at });
  return server;
}

it("shows the server's figure by step, with the zoom in the URL", async () => {
  const drawn = vi.spyOn(plotly, "react");
  const server = open("/?x=time&smoothing=0.3&zoom=100:200");
  await screen.findByRole("img");
  const asked = server.of("GET /figures/evaluations").map(({ query }) => Object.fromEntries(query));
  expect(asked).toEqual([{ runs: "1", x: "step", smoothing: "0.3", buckets: "400", from: "100", to: "200" }]);
  expect(drawn.mock.lastCall?.[1]).toEqual(FIGURE.data);
});

it("exports a row for each finished evaluation", async () => {
  const saved = downloads();
  open();
  await userEvent.click(await screen.findByLabelText(/^Menu of the chart/));
  await userEvent.click(await screen.findByText("Download points (CSV)"));
  await waitFor(() => expect(saved.map(({ name }) => name)).toEqual(["evaluations-run-1.csv"]));
  expect(await saved[0]?.text()).toBe(
    "run,evaluation,step,frames,protocol,acting,seed,episodes,mean,median,standard_error,low,high,human_normalized\r\n" +
      "1,1,250000,1000000,no-op-5min,sampled,1,30,19.8,20,0.25,19.2,20.3,135\r\n",
  );
});
