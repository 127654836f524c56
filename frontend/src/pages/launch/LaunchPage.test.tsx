import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { RunConfig } from "@/api/types";
import { aMethod } from "@/testing/methods";
import { aPreset } from "@/testing/presets";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import LaunchPage from "./LaunchPage";

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
    Q: aMethod("q", "One-step Q", ["CartPole-v1", "Catch"], { final_epsilons: epsilons }),
  },
};
const preset = (name: string, title: string, total_steps: number, more: RunConfig = {}) =>
  aPreset(
    name,
    { algorithm: "paac", env: "CartPole-v1", total_steps, gamma: 0.99, ...more },
    { title, method: String(more["algorithm"] ?? "paac").toUpperCase() },
  );
const environment = (id: string, algorithms: string[]) => ({
  id,
  title: id.replace("-v1", ""),
  group: "Small",
  kind: "vector",
  frames_per_step: 1,
  algorithms,
  unfit_because: "its actions are continuous",
});
const like = aRun({
  id: 12,
  name: "older",
  config: { algorithm: "paac", env: "CartPole-v1", total_steps: 5000, gamma: 0.5 },
});

// Many inputs under a simulated browser, on machines that do other things too.
vi.setConfig({ testTimeout: 30_000 });

let posted: unknown[] = [];
let answer: () => Response = () => Response.json(aRun({ id: 77 }), { status: 201 });

beforeEach(() => {
  posted = [];
  answer = () => Response.json(aRun({ id: 77 }), { status: 201 });
  const answers: Record<string, unknown> = {
    "/api/v1/config-schema": schema,
    "/api/v1/presets": [
      preset("short", "A short one", 2000),
      preset("long", "A long one", 9000),
      preset("swing", "Swing up", 300, { algorithm: "a3c", env: "Pendulum", gamma: 0.9 }),
      preset("both", "Both hands", 400, { algorithm: "a3c", gamma: 0.95 }),
    ],
    "/api/v1/environments": [
      environment("CartPole-v1", ["paac", "a3c", "q"]),
      environment("Catch", ["paac", "a3c", "q"]),
      environment("Pendulum", ["a3c"]),
    ],
    "/api/v1/workers": [],
    "/api/v1/runs/12": like,
  };
  vi.stubGlobal("fetch", async (input: RequestInfo | URL, init?: RequestInit) => {
    const request = input instanceof Request ? input : new Request(new URL(String(input), "http://h"), init);
    if (request.method === "POST") {
      posted.push(await request.json());
      return answer();
    }
    return Response.json(answers[new URL(request.url).pathname]);
  });
});
afterEach(() => vi.unstubAllGlobals());

async function open(at: string) {
  const page = renderPage(<LaunchPage />, {
    at,
    routes: [{ path: "/runs/:id", element: <p>The run page</p> }],
  });
  await screen.findByLabelText(/Total steps total_steps/, {}, { timeout: 10_000 });
  return page;
}

const type = async (label: RegExp, text: string) => {
  const input = screen.getByLabelText(label);
  await userEvent.clear(input);
  await userEvent.click(input);
  await userEvent.paste(text);
};
const launch = () => userEvent.click(screen.getByText("Launch run"));

it("launches what the preset says with what was changed, and goes to the run", async () => {
  const { router } = await open("/?preset=long");
  await type(/Total steps total_steps/, "10k");
  await launch();
  await waitFor(() => expect(router.state.location.pathname).toBe("/runs/77"));
  expect(posted).toEqual([
    {
      config: { algorithm: "paac", env: "CartPole-v1", total_steps: 10_000, gamma: 0.99 },
      priority: 0,
    },
  ]);
});

it("keeps a value out of range here, and moves to the first such field", async () => {
  await open("/");
  await type(/Total steps total_steps/, "2M");
  await type(/Discount gamma/, "1.5");
  await launch();
  const steps = screen.getByLabelText(/Total steps total_steps/);
  expect(steps).toHaveProperty("ariaInvalid", "true");
  expect(screen.getByText("Must be from 0 to 1.")).toBeTruthy();
  await waitFor(() => expect(document.activeElement).toBe(steps));
  expect(posted).toEqual([]);
});

it("puts the server's objection beside the field it names", async () => {
  answer = () =>
    Response.json(
      { title: "Invalid", detail: "Wrong.", errors: [{ field: "config.gamma", message: "too far-sighted" }] },
      { status: 422, headers: { "Content-Type": "application/problem+json" } },
    );
  await open("/");
  await launch();
  const gamma = screen.getByLabelText(/Discount gamma/);
  await screen.findByText("Too far-sighted.");
  await waitFor(() => expect(document.activeElement).toBe(gamma));
  await userEvent.type(gamma, "1");
  expect(screen.queryByText("Too far-sighted.")).toBeNull();
});

it("begins with another run's configuration and names what differs from the nearest preset", async () => {
  await open("/?like=12");
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "5000");
  const summary = within(screen.getByLabelText("What will be run"));
  expect(summary.getByText("0.99 → 0.5")).toBeTruthy();
  expect(summary.getByText(/Changed from “A short one”/)).toBeTruthy();
});

it("sets a changed field back to the preset", async () => {
  await open("/?preset=short");
  await type(/Total steps total_steps/, "7");
  await userEvent.click(screen.getByText(/reset to 2000/));
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "2000");
});

const choose = (name: RegExp) => userEvent.click(screen.getByRole("radio", { name }));
const address = (search: string, page: Awaited<ReturnType<typeof open>>) =>
  waitFor(() => expect(page.router.state.location.search).toBe(search));

it("begins another method with its preset for the same game, and keeps what was changed", async () => {
  const page = await open("/?preset=long");
  await type(/Total steps total_steps/, "77");
  await choose(/^A3C/);
  await address("?preset=both", page);
  expect(screen.getByRole("radio", { name: /Both hands/ })).toHaveProperty("ariaChecked", "true");
  expect(screen.queryByRole("radio", { name: /A long one/ })).toBeNull();
  await launch();
  await waitFor(() => expect(posted).toHaveLength(1));
  expect(posted[0]).toMatchObject({
    config: { algorithm: "a3c", env: "CartPole-v1", total_steps: 77, gamma: 0.95 },
  });
});

it("begins a method without presets with its defaults, and sends its list of numbers as one", async () => {
  const page = await open("/?preset=long");
  await choose(/^One-step Q/);
  await address("?method=q", page);
  await type(/Final ε final_epsilons/, "0.2, 7");
  await launch();
  expect(screen.getByText("Each must be from 0 to 1, unlike 7.")).toBeTruthy();
  await type(/Final ε final_epsilons/, "0.2 .4");
  await launch();
  await waitFor(() => expect(posted).toHaveLength(1));
  expect(posted[0]).toMatchObject({
    config: {
      algorithm: "q",
      env: "CartPole-v1",
      total_steps: 1000,
      gamma: 0.99,
      final_epsilons: [0.2, 0.4],
    },
  });
});

it("does not offer a method that cannot learn the chosen game, and says why", async () => {
  await open("/?preset=swing");
  const paac = screen.getByRole("radio", { name: /^PAAC/ });
  expect(paac).toHaveProperty("disabled", true);
  expect(within(paac).getByText("Not for Pendulum: its actions are continuous.")).toBeTruthy();
  expect(screen.getByRole("radio", { name: /^A3C/ })).toHaveProperty("disabled", false);
});

it("finds presets of every method", async () => {
  const page = await open("/?preset=long");
  await userEvent.type(screen.getByLabelText("Search presets of every method"), "pendulum");
  expect(screen.queryByRole("radio", { name: /A long one/ })).toBeNull();
  await choose(/Swing up/);
  await address("?preset=swing", page);
  expect(screen.getByRole("radio", { name: /^A3C/ })).toHaveProperty("ariaChecked", "true");
  expect(screen.getByLabelText(/Discount gamma/)).toHaveProperty("value", "0.9");
});
