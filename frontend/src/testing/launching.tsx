import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { RouteObject } from "react-router";
import { expect } from "vitest";
import type { Environment, RunConfig } from "@/api/types";
import { anEnvironment } from "./environments";
import { aForecast } from "./forecasts";
import { aMethod } from "./methods";
import { aPreset } from "./presets";
import { renderPage } from "./render";
import { aRun } from "./runs";
import { type Answer, serve } from "./server";

const epsilons = {
  type: "array",
  items: { type: "number", minimum: 0, maximum: 1 },
  minItems: 1,
  title: "Final ε",
  default: [0.1, 0.5],
  group: "Rollout",
};
const schema = {
  oneOf: [{ $ref: "#/$defs/Paac" }, { $ref: "#/$defs/A3c" }, { $ref: "#/$defs/Q" }],
  $defs: {
    Paac: aMethod("paac", "PAAC", ["CartPole-v1", "Catch"]),
    A3c: aMethod("a3c", "A3C", ["CartPole-v1", "Catch", "Pendulum"]),
    Q: aMethod("one_step_q", "One-step Q", ["CartPole-v1", "Catch"], { final_epsilons: epsilons }),
  },
};

/** A preset of PAAC for CartPole by default. */
export const preset = (name: string, title: string, total_steps: number, more: RunConfig = {}) =>
  aPreset(
    name,
    { algorithm: "paac", env: "CartPole-v1", total_steps, gamma: 0.99, ...more },
    { title, method: String(more["algorithm"] ?? "paac").toUpperCase() },
  );
export const PRESETS = [
  preset("short", "A short one", 2000),
  preset("long", "A long one", 9000),
  preset("swing", "Swing up", 300, { algorithm: "a3c", env: "Pendulum", gamma: 0.9 }),
  preset("both", "Both hands", 400, { algorithm: "a3c", gamma: 0.95 }),
];

const environment = (id: string, algorithms: Environment["algorithms"]) => anEnvironment(id, { algorithms });

/** A server with a few presets and run 12, which launches run 77 by default. */
export function serveLaunching(answers: Record<string, Answer> = {}) {
  return serve({
    "GET /config-schema": schema,
    "GET /presets": PRESETS,
    "GET /environments": [
      environment("CartPole-v1", ["paac", "a3c", "one_step_q"]),
      environment("Catch", ["paac", "a3c", "one_step_q"]),
      environment("Pendulum", ["a3c"]),
    ],
    "GET /workers": [],
    "GET /runs/12": aRun({
      id: 12,
      name: "older",
      config: { algorithm: "paac", env: "CartPole-v1", total_steps: 5000, gamma: 0.5 },
    }),
    "POST /runs/preview": aForecast(),
    "POST /runs": () => Response.json(aRun({ id: 77 }), { status: 201 }),
    ...answers,
  });
}

/** Open the page of the launch form. `routes` are the other pages that it links to. */
export async function openLaunch(
  page: React.ReactElement,
  at: string,
  routes: RouteObject[] = [{ path: "/runs/:id", element: <p>The run page</p> }],
) {
  const rendered = renderPage(page, { at, routes });
  await screen.findByLabelText(/Total steps total_steps/, {}, { timeout: 10_000 });
  return rendered;
}

/** Replace the text of a field. */
export async function type(label: RegExp, text: string) {
  const input = await screen.findByLabelText(label);
  await userEvent.clear(input);
  await userEvent.click(input);
  await userEvent.paste(text);
}

/** Press "Launch run". */
export const launch = () => userEvent.click(screen.getByText("Launch run"));
/** Choose a method or a preset by its card. */
export const choose = (name: RegExp) => userEvent.click(screen.getByRole("radio", { name }));
/** Wait until the URL has this query. */
export const addressIs = (search: string, page: Awaited<ReturnType<typeof openLaunch>>) =>
  waitFor(() => expect(page.router.state.location.search).toBe(search));
