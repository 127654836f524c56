import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { Checkpoint, EvaluationChoices } from "@/api/types";
import { anUnfinishedEvaluation, aStartSet, CHOICES } from "@/testing/evaluations";
import { aCheckpoint } from "@/testing/files";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { refusal, serve } from "@/testing/server";
import { aWorker } from "@/testing/workers";
import { EvaluateModal } from "./EvaluateModal";

const REQUEST = "POST /runs/1/evaluations";

interface Opened {
  checkpoint?: Checkpoint;
  choices?: EvaluationChoices;
  answer?: object;
  workers?: object[];
}

async function open({
  checkpoint,
  choices = CHOICES,
  answer = anUnfinishedEvaluation(9),
  workers = [aWorker("one")],
}: Opened = {}) {
  const server = serve({
    "GET /runs/1/evaluation-choices": choices,
    "GET /runs/1/checkpoints": [
      aCheckpoint(1, 1000, { best: true, best_by: "training" }),
      aCheckpoint(2, 2000, { available: false, file_id: null }),
      aCheckpoint(3, 3000),
    ],
    "GET /workers": workers,
    [REQUEST]: answer,
  });
  const { router } = renderPage(
    <EvaluateModal run={aRun()} {...(checkpoint && { checkpoint })} onClose={() => undefined} />,
    {
      routes: [{ path: "/runs/1/evaluations", element: "The list" }],
    },
  );
  const form = within(await screen.findByRole("dialog"));
  await form.findByLabelText("Checkpoint");
  const submit = () => userEvent.click(form.getByRole("button", { name: "Evaluate" }));
  const asked = () => server.of(REQUEST).map(({ body }) => body);
  return { form, submit, asked, router };
}

describe("the evaluation form", () => {
  it("requests the newest checkpoint with the run's protocol and the paper's acting by default", async () => {
    const { submit, asked, router } = await open();
    await submit();
    expect(await screen.findByText("The list")).toBeTruthy();
    expect(router.state.location.pathname).toBe("/runs/1/evaluations");
    expect(asked()).toEqual([
      { checkpoint: "newest", protocol: "no-op-5min", seed: 1, acting: { name: "sampled" } },
    ]);
  });

  it("requests the chosen values", async () => {
    const { form, submit, asked } = await open();
    await userEvent.selectOptions(form.getByLabelText("Checkpoint"), "best");
    await userEvent.click(form.getByRole("radio", { name: /^No-op starts, 30 minutes/ }));
    await userEvent.type(form.getByLabelText("Episodes"), "5");
    await userEvent.clear(form.getByLabelText("Seed"));
    await userEvent.type(form.getByLabelText("Seed"), "7");
    await userEvent.click(form.getByRole("radio", { name: /^ε-greedy/ }));
    const epsilon = form.getByLabelText("ε (probability of a random action)");
    await userEvent.clear(epsilon);
    await userEvent.type(epsilon, "0.1");
    await submit();
    expect(asked()).toEqual([
      {
        checkpoint: "best",
        protocol: "no-op-30min",
        episodes: 5,
        seed: 7,
        acting: { name: "epsilon-greedy", epsilon: 0.1 },
      },
    ]);
  });

  it("offers start sets for a protocol that uses them", async () => {
    const sets = [aStartSet(7, { name: "Second", points: 50 }), aStartSet(4)];
    const human = {
      ...{ name: "human-starts", title: "Human starts", sentence: "From a person's play.", source: "Gorila" },
      ...{ episodes: 100, unfit_because: null, start_sets: sets },
    };
    const agent = {
      ...{ ...human, name: "agent-starts", title: "Agent starts", start_sets: [] },
      unfit_because: "agent-starts needs a set of start points: there are none yet",
    };
    const { form, submit, asked } = await open({
      choices: { ...CHOICES, protocols: [...CHOICES.protocols, human, agent] },
    });
    expect(form.queryByLabelText("Start points")).toBeNull();
    expect(form.getByRole<HTMLInputElement>("radio", { name: /^Agent starts/ }).disabled).toBe(true);
    expect(form.getByText("agent-starts needs a set of start points: there are none yet.")).toBeTruthy();
    await userEvent.click(form.getByRole("radio", { name: /^Human starts/ }));
    const choice = form.getByLabelText<HTMLSelectElement>("Start points");
    expect(
      within(choice)
        .getAllByRole("option")
        .map(({ textContent }) => textContent),
    ).toEqual(["Second, 50 points", "Ana's games, 100 points"]);
    expect(form.getByLabelText<HTMLInputElement>("Episodes").placeholder).toBe("50, one from each point");
    await userEvent.selectOptions(choice, "4");
    await submit();
    expect(asked()).toMatchObject([{ protocol: "human-starts", start_set: 4 }]);
  });

  it("sends no start set for a protocol without one", async () => {
    const human = {
      ...{ name: "human-starts", title: "Human starts", sentence: "From a person's play.", source: "Gorila" },
      ...{ episodes: 100, unfit_because: null, start_sets: [aStartSet(4)] },
    };
    const { form, submit, asked } = await open({
      choices: { ...CHOICES, protocols: [...CHOICES.protocols, human] },
    });
    await userEvent.click(form.getByRole("radio", { name: /^Human starts/ }));
    await userEvent.click(form.getByRole("radio", { name: /^No-op starts, 5 minutes/ }));
    await submit();
    expect(asked()).toEqual([
      { checkpoint: "newest", protocol: "no-op-5min", seed: 1, acting: { name: "sampled" } },
    ]);
  });

  it("offers available checkpoints, and says why one is the best", async () => {
    const { form } = await open();
    const options = within(form.getByLabelText("Checkpoint")).getAllByRole("option");
    expect(options.map(({ textContent }) => textContent)).toEqual([
      "Newest, at 3 k steps",
      "Best by training return, at 1 k steps",
      "At 3\u202f000 steps",
      "At 1\u202f000 steps",
    ]);
  });

  it("starts with the checkpoint that it was opened for", async () => {
    const { submit, asked } = await open({ checkpoint: aCheckpoint(1, 1000) });
    expect(screen.getByRole("dialog", { name: "Evaluate the checkpoint at 1 k steps" })).toBeTruthy();
    await submit();
    expect(asked()).toMatchObject([{ checkpoint: 1 }]);
  });

  it("disables unavailable protocols and acting, and says why", async () => {
    const acting = CHOICES.acting.map((way) =>
      way.acting.name === "sampled" ? { ...way, unfit_because: "sampled needs a policy" } : way,
    );
    const usual_acting = { name: "epsilon-greedy", epsilon: 0.05 } as const;
    const { form } = await open({ choices: { ...CHOICES, acting, usual_acting } });
    const unfit = form.getByRole<HTMLInputElement>("radio", { name: /^Episodes episodes/ });
    expect(unfit.disabled).toBe(true);
    expect(form.getByText("episodes is not for ALE/Pong-v5: use no-op-5min or no-op-30min.")).toBeTruthy();
    expect(form.getByRole<HTMLInputElement>("radio", { name: "Sampled" }).disabled).toBe(true);
    expect(form.getByText("sampled needs a policy.")).toBeTruthy();
    const usual = form.getByRole<HTMLInputElement>("radio", { name: "ε-greedy (the paper's choice)" });
    expect(usual.checked).toBe(true);
  });

  it.each([
    ["Episodes", "0", "Enter a whole number from 1 to 1 000."],
    ["Episodes", "many", "Enter a whole number from 1 to 1 000."],
    ["Seed", "1.5", "Enter a whole number, 0 or more."],
  ])("rejects %s %s beside the field, without a request", async (label, typed, words) => {
    const { form, submit, asked } = await open();
    await userEvent.clear(form.getByLabelText(label));
    await userEvent.type(form.getByLabelText(label), typed);
    await submit();
    expect(await form.findByText(words)).toBeTruthy();
    expect(asked()).toEqual([]);
  });

  it("shows why the server refuses", async () => {
    const pruned = "The checkpoint at step 3000 was deleted; evaluate one that is still kept.";
    const { form, submit, router } = await open({ answer: refusal(409, pruned) });
    await submit();
    expect((await form.findByRole("alert")).textContent).toBe(pruned);
    expect(router.state.location.pathname).toBe("/");
  });

  it("shows a server error beside its field", async () => {
    const unfit = [{ field: "protocol", message: "no-op-5min is not for this" }];
    const { form, submit } = await open({ answer: refusal(422, "Refused", unfit) });
    await submit();
    expect(await form.findByText("No-op-5min is not for this.")).toBeTruthy();
  });

  it("warns if no worker plays evaluations", async () => {
    const { form } = await open({ workers: [] });
    expect(await form.findByText("No worker for evaluations is connected")).toBeTruthy();
  });
});
