import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { Checkpoint, Run } from "@/api/types";
import { CHOICES } from "@/testing/evaluations";
import { aCheckpoint } from "@/testing/files";
import { aMethod } from "@/testing/methods";
import { renderPage } from "@/testing/render";
import { aFinishedRun, aRun } from "@/testing/runs";
import { type Asked, refusal, serve } from "@/testing/server";
import { CheckpointsTab } from "./CheckpointsTab";

function open(checkpoints: Checkpoint[], run: Run = aRun(), more: Record<string, object> = {}) {
  const server = serve({
    "GET /runs/1/checkpoints": checkpoints,
    "GET /config-schema": aMethod("paac", "PAAC", ["ALE/Pong-v5"]),
    "GET /environments": [],
    "GET /runs/1/evaluation-choices": CHOICES,
    ...more,
  });
  return { ...renderPage(<CheckpointsTab run={run} />), server };
}

const rows = async () => (await screen.findAllByRole("row")).slice(1).map((row) => within(row));

const ACTIONS = (step: number) => `Actions for the checkpoint at step ${step}`;

/** Open the menu of the checkpoint at a step, and choose an action. */
async function choose(step: number, action: string) {
  await userEvent.click(await screen.findByRole("button", { name: ACTIONS(step) }));
  await userEvent.click(await screen.findByRole("menuitem", { name: action }));
}

describe("the checkpoint list", () => {
  it("lists the newest checkpoint first", async () => {
    open([
      aCheckpoint(1, 1000),
      aCheckpoint(3, 3000, { return_mean: null }),
      aCheckpoint(2, 2000, { best: true, best_by: "training" }),
    ]);
    const [newest, best, oldest] = await rows();
    expect(newest?.getByText("3 k steps", { selector: "td:first-child *" })).toBeTruthy();
    expect(newest?.getByText("–")).toBeTruthy();
    expect(newest?.queryByText("best")).toBeNull();
    expect(best?.getByText("best")).toBeTruthy();
    expect(best?.getByText("by training return")).toBeTruthy();
    expect(oldest?.getByText("1 MiB")).toBeTruthy();
  });

  it("names every column", async () => {
    open([aCheckpoint(1, 1000)]);
    const heads = await screen.findAllByRole("columnheader", { hidden: true });
    expect(heads.map(({ textContent }) => textContent)).toEqual([
      "Saved at",
      "Return",
      "Size",
      "Age",
      "Actions",
    ]);
  });

  it("marks a checkpoint of the parent run", async () => {
    open([aCheckpoint(1, 1000, { attempt: 0 })]);
    const [only] = await rows();
    expect(only?.getByText("from parent")).toBeTruthy();
  });

  it("pins and unpins a checkpoint", async () => {
    let checkpoint = aCheckpoint(1, 1000);
    const { server } = open([], aRun(), {
      "GET /runs/1/checkpoints": () => [checkpoint],
      "PATCH /runs/1/checkpoints/1": ({ body }: Asked) => (checkpoint = { ...checkpoint, ...Object(body) }),
    });
    await choose(1000, "Pin");
    await screen.findByText("pinned");
    await choose(1000, "Unpin");
    await waitFor(() => expect(screen.queryByText("pinned")).toBeNull());
    const asked = server.of("PATCH /runs/1/checkpoints/1").map(({ body }) => body);
    expect(asked).toEqual([{ pinned: true }, { pinned: false }]);
  });

  it("links to the file of a checkpoint", async () => {
    open([aCheckpoint(1, 1000, { file_id: 55 })]);
    await userEvent.click(await screen.findByRole("button", { name: ACTIONS(1000) }));
    const link = await screen.findByRole("menuitem", { name: "Download checkpoint" });
    expect(link.getAttribute("href")).toBe("/api/v1/files/55");
  });

  it("disables what needs a missing plug-in, and says why", async () => {
    open([aCheckpoint(1, 1000)], aRun({ unsupported_because: "the plug-in toy is not installed" }));
    const fork = await screen.findByRole("button", { name: "Fork from 1 k steps" });
    await userEvent.hover(fork);
    expect(await screen.findByText("The plug-in toy is not installed.")).toBeTruthy();
    await userEvent.click(fork);
    expect(screen.queryByRole("dialog")).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: ACTIONS(1000) }));
    const item = async (name: string) => screen.findByRole("menuitem", { name });
    for (const name of ["Watch live", "Evaluate…", "Record replay…", "Download agent"])
      expect((await item(name)).getAttribute("aria-disabled")).toBe("true");
    for (const name of ["Pin", "Set alias…", "Download checkpoint"])
      expect((await item(name)).getAttribute("aria-disabled")).toBeNull();
  });

  it("offers no actions for a deleted checkpoint", async () => {
    open([aCheckpoint(1, 1000, { available: false, file_id: null })]);
    const [only] = await rows();
    expect(only?.getByText("deleted")).toBeTruthy();
    expect(only?.queryByRole("button")).toBeNull();
  });

  it("opens and closes the fork dialog", async () => {
    open([aCheckpoint(1, 1000), aCheckpoint(2, 2000)]);
    const [, older] = await rows();
    await userEvent.click(
      (older as NonNullable<typeof older>).getByRole("button", {
        name: "Fork from 1 k steps",
      }),
    );
    const dialog = await screen.findByRole("dialog", { name: "Fork from 1 k steps" });
    expect(await within(dialog).findByText(/weights of run 1 at 1.000 steps/)).toBeTruthy();
    await userEvent.click(within(dialog).getByRole("button", { name: "Close" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });

  it("marks the best checkpoint by evaluation", async () => {
    open([aCheckpoint(1, 1000, { best: true, best_by: "evaluation" })]);
    expect(await screen.findByText("by evaluation")).toBeTruthy();
  });

  it("opens the evaluation form for the chosen checkpoint", async () => {
    open([aCheckpoint(1, 1000), aCheckpoint(2, 2000)]);
    await choose(1000, "Evaluate…");
    const dialog = within(
      await screen.findByRole("dialog", { name: "Evaluate the checkpoint at 1 k steps" }),
    );
    expect((await dialog.findByLabelText<HTMLSelectElement>("Checkpoint")).value).toBe("1");
  });
});

describe("a run without checkpoints", () => {
  it.each([
    [aRun(), "The first checkpoint is saved a few seconds after training starts."],
    [aFinishedRun(), "This run ended before its first checkpoint."],
  ])("says whether to expect checkpoints", async (run, text) => {
    open([], run);
    expect(await screen.findByText(text)).toBeTruthy();
  });

  it("shows a failed load, and can retry", async () => {
    let answers = 0;
    serve({
      "GET /runs/1/checkpoints": () =>
        answers++ === 0 ? refusal(500, "The disk is unavailable.") : [aCheckpoint(1, 1000)],
    });
    renderPage(<CheckpointsTab run={aRun()} />);
    await screen.findByText("The disk is unavailable.");
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await rows()).toHaveLength(1);
  });
});

describe("aliases and agents", () => {
  it("downloads the agent of a checkpoint", async () => {
    open([aCheckpoint(3, 3000)]);
    await userEvent.click(await screen.findByRole("button", { name: ACTIONS(3000) }));
    const item = await screen.findByRole("menuitem", { name: "Download agent" });
    expect(item.getAttribute("href")).toBe("/api/v1/runs/1/agent?checkpoint=3");
  });

  it("sets an alias with its reason", async () => {
    const { server } = open([aCheckpoint(3, 3000, { aliases: ["old"] })], aRun(), {
      "GET /aliases": [],
      "PUT /aliases": [],
    });
    expect((await screen.findByRole("link", { name: "old" })).getAttribute("href")).toBe("/aliases?name=old");
    await choose(3000, "Set alias…");
    await userEvent.type(await screen.findByRole("combobox", { name: "Alias" }), "pong/champion");
    await userEvent.type(screen.getByLabelText("Reason"), "It won.");
    await userEvent.click(screen.getByRole("button", { name: "Set alias" }));
    await screen.findByText("pong/champion now names the checkpoint at 3 k steps.");
    expect(server.of("PUT /aliases")[0]?.body).toEqual({
      name: "pong/champion",
      checkpoint_id: 3,
      why: "It won.",
    });
  });

  it("shows why an alias is refused", async () => {
    open([aCheckpoint(3, 3000)], aRun(), {
      "GET /aliases": [],
      "PUT /aliases": refusal(409, "The checkpoint at step 3000 was deleted."),
    });
    await choose(3000, "Set alias…");
    await userEvent.type(await screen.findByRole("combobox", { name: "Alias" }), "pong/champion");
    await userEvent.click(screen.getByRole("button", { name: "Set alias" }));
    expect(await screen.findByText("The checkpoint at step 3000 was deleted.")).toBeTruthy();
  });

  it("offers no fork of an imported agent", async () => {
    open([aCheckpoint(3, 3000)], aRun({ origin: "agent", origin_label: "Arcadia 0.1.0" }));
    expect(await screen.findByText(/This agent was imported/)).toBeTruthy();
    expect(screen.queryByRole("button", { name: /Fork/ })).toBeNull();
  });
});
