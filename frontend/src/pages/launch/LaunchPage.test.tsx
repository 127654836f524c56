import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import LaunchPage from "./LaunchPage";

const schema = {
  title: "PAAC",
  description: "Parallel advantage actor-critic.",
  properties: {
    algorithm: { const: "paac", default: "paac", group: "Run" },
    total_steps: {
      type: "integer",
      title: "Total steps",
      default: 1000,
      minimum: 1,
      maximum: 1_000_000,
      group: "Run",
    },
    gamma: { type: "number", title: "Discount", default: 0.99, minimum: 0, maximum: 1, group: "Rollout" },
  },
};
const preset = (name: string, title: string, total_steps: number) => ({
  name,
  title,
  shows: "",
  source: "",
  config: { algorithm: "paac", total_steps, gamma: 0.99 },
});
const like = aRun({ id: 12, name: "older", config: { algorithm: "paac", total_steps: 5000, gamma: 0.5 } });

// Many inputs under a simulated browser, on machines that do other things too.
vi.setConfig({ testTimeout: 30_000 });

let posted: unknown[] = [];
let answer: () => Response = () => Response.json(aRun({ id: 77 }), { status: 201 });

beforeEach(() => {
  posted = [];
  answer = () => Response.json(aRun({ id: 77 }), { status: 201 });
  const answers: Record<string, unknown> = {
    "/api/v1/config-schema": schema,
    "/api/v1/presets": [preset("short", "A short one", 2000), preset("long", "A long one", 9000)],
    "/api/v1/environments": [],
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
  expect(posted).toEqual([{ config: { algorithm: "paac", total_steps: 10_000, gamma: 0.99 }, priority: 0 }]);
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
  await screen.findByText("too far-sighted");
  await waitFor(() => expect(document.activeElement).toBe(gamma));
  await userEvent.type(gamma, "1");
  expect(screen.queryByText("too far-sighted")).toBeNull();
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
