import { act, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { describe, expect, it, vi } from "vitest";
import type { EvaluationWithEpisodes } from "@/api/types";
import { aJobNotice } from "@/testing/jobs";
import { anEvaluation, anUnfinishedEvaluation, CHOICES, withEpisodes } from "@/testing/evaluations";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { done, refusal, serve } from "@/testing/server";
import { fakeStreams, stream } from "@/testing/stream";
import { aWorker } from "@/testing/workers";
import { BestEvaluation } from "./BestEvaluation";
import { EvaluationsTab } from "./EvaluationsTab";

const PATH = "/runs/:id/:tab?/:item?";

function open(evaluation: EvaluationWithEpisodes | Response | (() => object), item = "5", live = false) {
  const server = serve({
    "GET /evaluations/5": evaluation,
    "GET /runs/1/evaluation-choices": CHOICES,
    "GET /workers": [aWorker("one")],
    "DELETE /evaluations/5": done(),
    "GET /runs/1/evaluations": { items: [], next_cursor: null, total: 0, best: null },
  });
  const at = `/runs/1/evaluations/${item}`;
  return { ...renderPage(<EvaluationsTab run={aRun()} />, { at, path: PATH, live }), server };
}

const found = (changes: Parameters<typeof anEvaluation>[1] = {}) =>
  withEpisodes(anEvaluation(5, changes), 21, 19, 19.5);

describe("the evaluation page", () => {
  it("lists every episode", async () => {
    open(found());
    const table = within(await screen.findByRole("region", { name: "Episodes" }));
    const rows = table.getAllByRole("row").slice(1);
    expect(
      rows.map((row) =>
        within(row)
          .getAllByRole("cell")
          .map(({ textContent }) => textContent),
      ),
    ).toEqual([
      ["1", "21", "4\u202f000", "998", "game over"],
      ["2", "19", "4\u202f001", "999", "time limit"],
      ["3", "19.5", "4\u202f002", "1\u202f000", "game over"],
    ]);
    expect(screen.getByText("Scores of 3 episodes")).toBeTruthy();
  });

  it("explains each statistic and the table of the normalized score", async () => {
    open(found({ distinct: 3 }));
    const text = (await screen.findByRole("region", { name: "Statistics" })).textContent;
    for (const words of [
      "Mean19.8",
      "Median20",
      "Standard error0.25",
      "95 % interval19.2 to 20.3",
      "Interval of the mean by Student's t.",
      "Human-normalized135\u00a0%",
      "random play scores −20.7 and a human 9.3 by no-op-5min: Gorila (Nair et al. 2015), table 4.",
    ])
      expect(text).toContain(words);
  });

  it("says that repeated episodes count as one", async () => {
    open(found({ distinct: 2 }));
    const text = (await screen.findByRole("region", { name: "Statistics" })).textContent;
    expect(text).toContain("2 episodes are distinct. The others have the same actions and scores.");
    expect(text).toContain("Interval of the mean by Student's t, for which repeated episodes are one.");
  });

  it("explains the interval of an earlier version", async () => {
    open(found({ distinct: null }));
    const text = (await screen.findByRole("region", { name: "Statistics" })).textContent;
    expect(text).toContain("Bootstrap interval of the mean, by an earlier version.");
  });

  it("says why there is no interval or normalized score", async () => {
    const single = { interval: null, standard_error: null, human_normalized: null, normalized_by: null };
    open(found({ ...single, not_normalized_because: "the papers publish none" }));
    const text = (await screen.findByRole("region", { name: "Statistics" })).textContent;
    expect(text).toContain(
      "95 % interval–Not available: there is a single distinct episode, or most scores are equal.",
    );
    expect(text).toContain("Human-normalized–The papers publish none.");
  });

  it("lists differences from training, if any", async () => {
    const { unmount } = open(found({ unlike_training: ["In training FIRE was pressed."] }));
    const text = await screen.findByRole("region", { name: "Unlike training" });
    expect(text.textContent).toContain("In training FIRE was pressed.");
    unmount();
    open(found());
    await screen.findByRole("region", { name: "Statistics" });
    expect(screen.queryByRole("region", { name: "Unlike training" })).toBeNull();
  });

  it("shows the settings of the evaluation", async () => {
    open(found({ acting: { name: "epsilon-greedy", epsilon: 0.05 }, seed: 7 }));
    await screen.findByText(/30 episodes of at most 5 minutes. Gorila, section 5.2./);
    const text = screen.getByRole("region", { name: "Evaluation settings" }).textContent;
    for (const words of [
      "at 250\u202f000 steps",
      "ab".repeat(32),
      "ε-greedy (0.05)",
      "with probability ε",
      "Seed7",
      "2 min",
    ])
      expect(text).toContain(words);
  });

  it("shows progress without statistics while it is running", async () => {
    open(withEpisodes(anUnfinishedEvaluation(5, { state: "running", done: 4 })));
    expect(await screen.findByText("4 of 30 episodes")).toBeTruthy();
    expect(screen.queryByRole("region", { name: "Statistics" })).toBeNull();
    expect(screen.getByRole("region", { name: "Evaluation settings" })).toBeTruthy();
  });

  it("shows each episode as it ends", async () => {
    fakeStreams();
    const playing = anUnfinishedEvaluation(5, { state: "running", done: 1, total: 3, episodes_total: 3 });
    let now = withEpisodes(playing, 21);
    open(() => now, "5", true);
    const table = within(await screen.findByRole("region", { name: "Episodes" }));
    expect(table.getByText("Episodes so far, 1 of 3")).toBeTruthy();
    expect(table.getAllByRole("row")).toHaveLength(2);
    now = withEpisodes({ ...playing, done: 2 }, 21, 19);
    act(() => stream().say("job.changed", JSON.stringify(aJobNotice({ done: 2, total: 3 }))));
    await table.findByText("Episodes so far, 2 of 3");
    expect(table.getAllByRole("row")).toHaveLength(3);
    expect(screen.getByText("Scores of 2 episodes so far")).toBeTruthy();
    expect(screen.queryByRole("region", { name: "Statistics" })).toBeNull();
  });

  it("names the start set, even if it was removed", async () => {
    const set = { id: 4, name: "Ana's games", player: "human", source: "Ana", points: 1 } as const;
    open(found({ start_set: { ...set, sha256: "ef".repeat(32), kept: false } }));
    await screen.findByText("Statistics");
    const text = screen.getByRole("region", { name: "Evaluation settings" }).textContent;
    for (const words of ["Ana's games, 1 point, removed", "ef".repeat(32)]) expect(text).toContain(words);
  });

  it("returns to the list when it is removed", async () => {
    const { router } = open(found());
    await userEvent.click(await screen.findByLabelText(/^Actions for the evaluation/));
    await userEvent.click(await screen.findByText("Remove evaluation…"));
    await userEvent.click(await screen.findByRole("button", { name: "Remove evaluation" }));
    expect(await screen.findByText("No evaluations yet")).toBeTruthy();
    expect(router.state.location.pathname).toBe("/runs/1/evaluations");
  });

  it.each(["failed", "cancelled"] as const)(
    "shows the number of episodes of one that was %s",
    async (state) => {
      open(withEpisodes(anUnfinishedEvaluation(5, { state, done: 2 }), 3, 4));
      expect(await screen.findByText("Episodes, 2 of 30")).toBeTruthy();
      expect(screen.getByText("Scores of 2 episodes")).toBeTruthy();
    },
  );

  it("returns to the list even if the run changes during the removal", async () => {
    let list: (page: object) => void = () => undefined;
    const nothing = { items: [], next_cursor: null, total: 0, best: null };
    let lists = 0;
    const server = serve({
      "GET /evaluations/5": () =>
        server.of("DELETE /evaluations/5").length > 0 ? refusal(404, "Gone.") : found(),
      "GET /runs/1/evaluation-choices": CHOICES,
      "GET /workers": [aWorker("one")],
      "DELETE /evaluations/5": done(),
      "GET /runs/1/evaluations": () =>
        lists++ === 0 ? nothing : new Promise<object>((answer) => (list = answer)),
    });
    let move: () => void = () => undefined;
    function Page() {
      const [run, setRun] = useState(aRun());
      move = () => setRun(aRun({ step: run.step + 1 }));
      return (
        <>
          <BestEvaluation run={run} />
          <EvaluationsTab run={run} />
        </>
      );
    }
    const { router } = renderPage(<Page />, { at: "/runs/1/evaluations/5", path: PATH });
    await userEvent.click(await screen.findByLabelText(/^Actions for the evaluation/));
    await userEvent.click(await screen.findByText("Remove evaluation…"));
    await userEvent.click(await screen.findByRole("button", { name: "Remove evaluation" }));
    await vi.waitFor(() => expect(lists).toBe(2));
    act(move);
    act(() => list(nothing));
    await vi.waitFor(() => expect(router.state.location.pathname).toBe("/runs/1/evaluations"), 5000);
  });

  it.each(["5", "abc", "0"])("shows a message for the unknown id %s", async (item) => {
    open(refusal(404, "There is no evaluation 5."), item);
    expect(await screen.findByText(`There is no evaluation ${item}`)).toBeTruthy();
  });

  it("links to the run of the evaluation", async () => {
    open(found({ run_id: 3 }));
    const link = await screen.findByRole("link", { name: "Open it in run 3" });
    expect(link.getAttribute("href")).toBe("/runs/3/evaluations/5");
  });
});
