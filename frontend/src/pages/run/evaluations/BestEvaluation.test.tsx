import { screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { anEvaluation, evaluationPage } from "@/testing/evaluations";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { serve } from "@/testing/server";
import { BestEvaluation } from "./BestEvaluation";

it("shows the best score with its protocol and episodes, and links to it", async () => {
  serve({ "GET /runs/1/evaluations": evaluationPage([], { best: anEvaluation(4) }) });
  renderPage(<BestEvaluation run={aRun()} />);
  const link = await screen.findByRole("link", { name: "19.8" });
  expect(link.getAttribute("href")).toBe("/runs/1/evaluations/4");
  expect(screen.getByText("Best evaluation")).toBeTruthy();
  expect(screen.getByText("no-op-5min, 30 episodes")).toBeTruthy();
});

it("is empty before the first evaluation", async () => {
  const server = serve({ "GET /runs/1/evaluations": evaluationPage([anEvaluation(4)]) });
  renderPage(<BestEvaluation run={aRun()} />);
  await waitFor(() => expect(server.asked).toHaveLength(1));
  expect(screen.queryByText("Best evaluation")).toBeNull();
});
