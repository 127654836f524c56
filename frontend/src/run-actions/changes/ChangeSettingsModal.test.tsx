import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import type { Run } from "@/api/types";
import { aMethod } from "@/testing/methods";
import { renderPage } from "@/testing/render";
import { aFinishedRun, aRun } from "@/testing/runs";
import { serve } from "@/testing/server";
import { ChangeSettingsModal } from "./ChangeSettingsModal";

const config = {
  algorithm: "paac",
  env: "Catch",
  total_steps: 1000,
  gamma: 0.99,
  learning_rate: 0.01,
  learning_rate_decay: "linear",
};
const changeable = "The next update uses it.";
const schema = aMethod("paac", "PAAC", ["Catch"], {
  total_steps: { type: "integer", title: "Total steps", default: 1000, minimum: 1, group: "Run", changeable },
  learning_rate: {
    type: "number",
    title: "Learning rate",
    default: 0.01,
    exclusiveMinimum: 0,
    group: "Optimization",
    changeable,
  },
  learning_rate_decay: {
    enum: ["linear", "none"],
    default: "linear",
    title: "Decay",
    group: "Optimization",
    changeable,
  },
});

async function open(run: Run, items: object[] = [], answer?: object) {
  const server = serve({
    "GET /config-schema": schema,
    [`GET /runs/${run.id}`]: run,
    [`GET /runs/${run.id}/changes`]: { items, start_config: run.config },
    [`POST /runs/${run.id}/changes`]: answer ?? {},
  });
  const onClose = vi.fn();
  renderPage(<ChangeSettingsModal run={run} onClose={onClose} />);
  await screen.findByLabelText(/^Learning rate/);
  return { onClose, bodies: () => server.of(`POST /runs/${run.id}/changes`).map(({ body }) => body) };
}

const button = (name: RegExp) => screen.getByRole("button", { name });

it("offers only the changeable settings with their current values", async () => {
  await open(aRun({ id: 3, config, step: 250 }));
  expect(screen.getByLabelText<HTMLInputElement>(/^Learning rate/).value).toBe("0.01");
  expect(screen.queryByLabelText(/^Discount/)).toBeNull();
  expect(screen.getByRole("link", { name: "Fork instead" }).getAttribute("href")).toBe("/runs/3/checkpoints");
  expect(button(/^Change settings$/)).toHaveProperty("disabled", true);
});

it("sends the changed settings", async () => {
  const { onClose, bodies } = await open(aRun({ id: 3, config, step: 250 }));
  const rate = screen.getByLabelText(/^Learning rate/);
  await userEvent.clear(rate);
  await userEvent.type(rate, "1e-3");
  await userEvent.click(button(/^Change 1 setting$/));
  await waitFor(() => expect(onClose).toHaveBeenCalled());
  expect(bodies()).toEqual([{ fields: { learning_rate: 0.001 } }]);
});

it("trains an ended run longer by a shortcut, and describes the effect on the decay", async () => {
  const { onClose, bodies } = await open(aFinishedRun({ id: 3, config, step: 1000, total_steps: 1000 }));
  expect(screen.getByText(/^This run has ended/)).toBeTruthy();
  const shortcuts = within(screen.getByRole("group", { name: "Train longer" }));
  await userEvent.click(shortcuts.getByRole("button", { name: "×2" }));
  expect(screen.getByLabelText<HTMLInputElement>(/^Total steps/).value).toBe("2000");
  expect(screen.getByText(/it moves from 0 % to 50 % of its first value/)).toBeTruthy();
  await userEvent.click(button(/^Train longer$/));
  await waitFor(() => expect(onClose).toHaveBeenCalled());
  expect(bodies()).toEqual([{ fields: { total_steps: 2000 } }]);
});

it("starts from changes that wait", async () => {
  const waiting = {
    number: 1,
    fields: { learning_rate: 0.5 },
    previous: {},
    applied_step: null,
    applied_at: null,
  };
  await open(aRun({ id: 3, config }), [waiting]);
  expect(screen.getByLabelText<HTMLInputElement>(/^Learning rate/).value).toBe("0.5");
});
