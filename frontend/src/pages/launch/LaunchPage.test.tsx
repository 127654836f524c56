import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Environment, Preset, RunConfig } from "@/api/types";
import { anEnvironment } from "@/testing/environments";
import { aMethod } from "@/testing/methods";
import { aPreset } from "@/testing/presets";
import { onItsWay, renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { refusal, serve } from "@/testing/server";
import { aPoint, aStudy } from "@/testing/studies";
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
    Q: aMethod("one_step_q", "One-step Q", ["CartPole-v1", "Catch"], { final_epsilons: epsilons }),
  },
};
const preset = (name: string, title: string, total_steps: number, more: RunConfig = {}) =>
  aPreset(
    name,
    { algorithm: "paac", env: "CartPole-v1", total_steps, gamma: 0.99, ...more },
    { title, method: String(more["algorithm"] ?? "paac").toUpperCase() },
  );
const environment = (id: string, algorithms: Environment["algorithms"]) => anEnvironment(id, { algorithms });
const like = aRun({
  id: 12,
  name: "older",
  config: { algorithm: "paac", env: "CartPole-v1", total_steps: 5000, gamma: 0.5 },
});

let answer: () => Response;
let presets: Preset[];
let server: ReturnType<typeof serve>;
const posted = () => server.of("POST /runs").map(({ body }) => body);

beforeEach(() => {
  answer = () => Response.json(aRun({ id: 77 }), { status: 201 });
  presets = [
    preset("short", "A short one", 2000),
    preset("long", "A long one", 9000),
    preset("swing", "Swing up", 300, { algorithm: "a3c", env: "Pendulum", gamma: 0.9 }),
    preset("both", "Both hands", 400, { algorithm: "a3c", gamma: 0.95 }),
  ];
  server = serve({
    "GET /config-schema": schema,
    "GET /presets": () => presets,
    "GET /environments": [
      environment("CartPole-v1", ["paac", "a3c", "one_step_q"]),
      environment("Catch", ["paac", "a3c", "one_step_q"]),
      environment("Pendulum", ["a3c"]),
    ],
    "GET /workers": [],
    "GET /runs/12": like,
    "POST /runs": () => answer(),
  });
});

async function open(at: string) {
  const page = renderPage(<LaunchPage />, {
    at,
    routes: [{ path: "/runs/:id", element: <p>The run page</p> }],
  });
  await screen.findByLabelText(/Total steps total_steps/, {}, { timeout: 10_000 });
  return page;
}

const type = async (label: RegExp, text: string) => {
  const input = await screen.findByLabelText(label);
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
  expect(posted()).toEqual([
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
  expect(posted()).toEqual([]);
});

it("understands a decimal comma, and asks what is meant where it could be either", async () => {
  await open("/?preset=long");
  await type(/Discount gamma/, "1,000");
  await launch();
  expect(screen.getByText(/can be read in two ways/)).toBeTruthy();
  await type(/Discount gamma/, "0,003");
  await launch();
  await waitFor(() => expect(posted()).toHaveLength(1));
  expect(posted()[0]).toMatchObject({ config: { gamma: 0.003 } });
});

it("puts the server's objection beside the field it names", async () => {
  answer = () => refusal(422, "Wrong.", [{ field: "config.gamma", message: "too far-sighted" }]);
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

it("shows where the chosen preset differs from its paper and the paper's code", async () => {
  const differing = aPreset(
    "paper",
    { algorithm: "paac", env: "CartPole-v1", total_steps: 10, gamma: 0.99 },
    {
      differences: [
        { field: "gamma", title: "Discount", paper: "0.9", code: "", ours: "0.99", why: "as its table" },
      ],
    },
  );
  presets.push(differing);
  await open("/?preset=paper");
  const table = within(screen.getByLabelText("Where paper, code and this preset differ"));
  const row = within(table.getByText("Discount").closest("tr") as HTMLElement);
  expect(row.getAllByRole("cell", { hidden: true }).map(({ textContent }) => textContent)).toEqual([
    "0.9",
    "not stated",
    "0.99",
    "as its table",
  ]);
  await choose(/A short one/);
  await waitFor(() => expect(screen.queryByText(/Where paper, code/)).toBeNull());
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

it("has what was written after a reload, until it is given up or launched", async () => {
  const first = await open("/?preset=long");
  await type(/Total steps total_steps/, "77");
  await type(/Name/, "mine");
  first.unmount();
  const second = await open("/?preset=long");
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "77");
  expect(screen.getByLabelText("Name")).toHaveProperty("value", "mine");
  await launch();
  await waitFor(() => expect(second.router.state.location.pathname).toBe("/runs/77"));
  second.unmount();
  await open("/?preset=long");
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "9000");
  expect(screen.getByLabelText("Name")).toHaveProperty("value", "");
});

it("has what was written where the way back leads to it again", async () => {
  const page = await open("/?like=12");
  await type(/Total steps total_steps/, "77");
  await act(() => page.router.navigate("/"));
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "2000");
  await act(() => page.router.navigate(-1));
  expect(await screen.findByDisplayValue("77")).toBeTruthy();
});

it("gives up what was written, and begins another preset without it", async () => {
  const first = await open("/?preset=long");
  await type(/Total steps total_steps/, "77");
  first.unmount();
  const second = await open("/?preset=short");
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "2000");
  await type(/Total steps total_steps/, "78");
  second.unmount();
  await open("/?preset=short");
  await type(/Name/, "mine");
  await userEvent.click(screen.getByText("Begin anew"));
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "2000");
  expect(screen.getByLabelText("Name")).toHaveProperty("value", "");
  expect(screen.queryByText("Begin anew")).toBeNull();
});

it("begins another method with its preset for the same game, and keeps what was changed", async () => {
  const page = await open("/?preset=long");
  await type(/Total steps total_steps/, "77");
  await choose(/^A3C/);
  await address("?preset=both", page);
  expect(screen.getByRole("radio", { name: /Both hands/ })).toHaveProperty("ariaChecked", "true");
  expect(screen.queryByRole("radio", { name: /A long one/ })).toBeNull();
  await launch();
  await waitFor(() => expect(posted()).toHaveLength(1));
  expect(posted()[0]).toMatchObject({
    config: { algorithm: "a3c", env: "CartPole-v1", total_steps: 77, gamma: 0.95 },
  });
});

it("takes several values, and text that cannot be read, to another method", async () => {
  const page = await open("/?preset=long");
  await type(/Discount gamma/, "0.9, 0.95");
  await type(/Total steps total_steps/, "many");
  await choose(/^A3C/);
  await address("?preset=both", page);
  expect(screen.getByLabelText(/Discount gamma/)).toHaveProperty("value", "0.9, 0.95");
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "many");
});

it("begins a method without presets with its defaults, and sends its list of numbers as one", async () => {
  const page = await open("/?preset=long");
  await choose(/^One-step Q/);
  await address("?method=one_step_q", page);
  await type(/Final ε final_epsilons/, "0.2, 7");
  await launch();
  expect(screen.getByText("Each must be from 0 to 1, unlike 7.")).toBeTruthy();
  await type(/Final ε final_epsilons/, "0.2 .4");
  await launch();
  await waitFor(() => expect(posted()).toHaveLength(1));
  expect(posted()[0]).toMatchObject({
    config: {
      algorithm: "one_step_q",
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
  expect(await screen.findByLabelText(/Discount gamma/)).toHaveProperty("value", "0.9");
});

it("sends the name, tags, notes and priority that were written", async () => {
  await open("/?preset=short");
  await type(/^Name/, " my run ");
  await userEvent.type(screen.getByLabelText("Tags", { selector: "input" }), "a, b{Enter}");
  await type(/^Notes/, "Slower?");
  await type(/^Priority/, "5");
  await launch();
  await waitFor(() => expect(posted()).toHaveLength(1));
  expect(posted()[0]).toMatchObject({ name: "my run", tags: ["a", "b"], notes: "Slower?", priority: 5 });
});

it("asks for a whole number as the priority", async () => {
  await open("/?preset=short");
  await type(/^Priority/, "soon");
  await launch();
  expect(screen.getByText("Must be a whole number.")).toBeTruthy();
  expect(posted()).toEqual([]);
});

it("says below the summary why the server launched nothing", async () => {
  answer = () => refusal(503, "The queue is full.");
  await open("/?preset=short");
  await launch();
  expect((await screen.findByText("The queue is full.")).getAttribute("role")).toBe("alert");
});

it("says that the form could not be fetched", async () => {
  server = serve({ "GET /config-schema": () => refusal(500, "The schema is away.") });
  renderPage(<LaunchPage />);
  expect(await screen.findByText("The schema is away.")).toBeTruthy();
});

const COST = { points: 2, runs: 4, steps: 40_000, seconds: 2400, places: 1, unmeasured: [], refused: null };
const routesOfStudies = [
  { path: "/compare", element: <p>The comparison</p> },
  { path: "/studies/:id", element: <p>The study</p> },
];

function serveStudies(study: object, preview: object = COST) {
  server = serve({
    "GET /config-schema": schema,
    "GET /presets": () => presets,
    "GET /environments": [environment("CartPole-v1", ["paac"])],
    "GET /workers": [],
    "POST /studies/preview": preview,
    "POST /studies": study,
  });
}

async function openForStudies() {
  const page = renderPage(<LaunchPage />, { at: "/?preset=long", routes: routesOfStudies });
  await screen.findByLabelText(/Total steps total_steps/, {}, { timeout: 10_000 });
  return page;
}

it("makes a study of several values, tells its cost, and opens its grouped comparison", async () => {
  const runs = (first: number) =>
    [1, 2].map((seed) => ({
      ...{ seed, run_id: first + seed, state: "queued" as const },
      ...{ step: 0, total_steps: 1000, score: null },
    }));
  serveStudies(aStudy({ table: [aPoint(0, { runs: runs(0) }), aPoint(1, { runs: runs(10) })] }));
  const { router } = await openForStudies();
  await type(/Discount gamma/, "0.9, 0.99");
  expect(await screen.findByText("4 runs, 40 k steps, about 40 min on 1 worker")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Start study" }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/compare"));
  expect(router.state.location.search).toBe("?runs=1,2,11,12");
  expect(posted()).toEqual([]);
  expect(server.of("POST /studies")[0]?.body).toMatchObject({
    name: "PAAC on CartPole-v1: discount",
    axes: [{ field: "gamma", values: [0.9, 0.99] }],
    sampler: "grid",
    seeds: [1],
    config: { algorithm: "paac", total_steps: 9000 },
  });
});

it("draws points from a range, and opens the study where its runs are not all there", async () => {
  serveStudies(aStudy());
  const { router } = await openForStudies();
  await type(/Discount gamma/, "uniform(0.9, 0.99) x 20");
  await userEvent.click(await screen.findByRole("button", { name: "Start study" }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/studies/3"));
  expect(server.of("POST /studies")[0]?.body).toMatchObject({
    axes: [{ field: "gamma", uniform: [0.9, 0.99] }],
    sampler: "random",
    points: 20,
  });
});

it("says what is wrong with one of several values, and starts nothing", async () => {
  serveStudies(aStudy());
  await openForStudies();
  await type(/Discount gamma/, "0.9, 1.5");
  await userEvent.click(screen.getByText("Launch run"));
  expect(await screen.findByText("1.5: Must be from 0 to 1.")).toBeTruthy();
  expect(server.of("POST /studies")).toEqual([]);
});

it("says that a study is too large", async () => {
  serveStudies(aStudy(), { ...COST, refused: "1,000 points × 10 seeds are 10,000 runs" });
  await openForStudies();
  await type(/Discount gamma/, "uniform(0.9, 0.99) x 1000");
  expect((await screen.findAllByText("1,000 points × 10 seeds are 10,000 runs")).length).toBe(1);
});

it("launches nothing by Enter in the search for presets", async () => {
  const { router } = await open("/");
  await userEvent.type(screen.getByLabelText("Search presets of every method"), "pendulum{Enter}");
  expect(posted()).toEqual([]);
  expect(router.state.location.pathname).toBe("/");
});

it("opens the run that was launched also where the browser forbids storage", async () => {
  const { router } = await open("/");
  const forbidden = () => {
    throw new DOMException("The operation is insecure.", "SecurityError");
  };
  for (const name of ["getItem", "setItem", "removeItem"] as const)
    vi.spyOn(Storage.prototype, name).mockImplementation(forbidden);
  await userEvent.click(screen.getByRole("button", { name: "Launch run" }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/runs/77"));
  vi.restoreAllMocks();
});

it("counts no runs any more where a study is refused", async () => {
  serveStudies(aStudy(), refusal(422, "A study has at most 10,000 runs."));
  await openForStudies();
  await type(/Discount gamma/, "0.9, 0.99");
  expect(await screen.findByText("A study has at most 10,000 runs.")).toBeTruthy();
  expect(screen.queryByText("Counting its runs…")).toBeNull();
});

it("launches one run however often the button is pressed while the run's page is on its way", async () => {
  const { router } = renderPage(<LaunchPage />, { at: "/?preset=short", routes: [onItsWay("/runs/:id")] });
  await screen.findByLabelText(/Total steps total_steps/);
  const button = screen.getByRole("button", { name: "Launch run" });
  await userEvent.click(button);
  await waitFor(() => expect(router.state.navigation.state).toBe("loading"));
  expect(button).toHaveProperty("disabled", true);
  await userEvent.click(button);
  expect(posted()).toHaveLength(1);
});

it("begins as a preset is today where nothing was typed before it changed", async () => {
  const first = await open("/?preset=short");
  first.unmount();
  presets = [preset("short", "A short one", 2000, { gamma: 0.9 })];
  await open("/?preset=short");
  expect(await screen.findByLabelText(/Discount gamma/)).toHaveProperty("value", "0.9");
  expect(screen.queryByText(/What you had written/)).toBeNull();
});

it("puts what was typed onto what a preset is today", async () => {
  const first = await open("/?preset=short");
  await type(/Total steps total_steps/, "7000");
  first.unmount();
  presets = [preset("short", "A short one", 2000, { gamma: 0.9 })];
  await open("/?preset=short");
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "7000");
  expect(await screen.findByLabelText(/Discount gamma/)).toHaveProperty("value", "0.9");
  expect(screen.getByText("What you had written here is back.")).toBeTruthy();
});

describe("the name", () => {
  const named = () => screen.getByLabelText<HTMLInputElement>("Name").value;

  it("that was typed for one run does not stand in the form of another", async () => {
    const first = await open("/?preset=short");
    await userEvent.type(screen.getByLabelText("Name"), "warm-up");
    first.unmount();
    const second = await open("/?like=12");
    expect(named()).toBe("");
    second.unmount();
    await open("/?preset=short");
    expect(named()).toBe("warm-up");
    await userEvent.click(screen.getByRole("button", { name: "Begin anew" }));
    expect(named()).toBe("");
  });

  it("stays where another preset or method is chosen, and is that one's then", async () => {
    const first = await open("/?preset=short");
    await userEvent.type(screen.getByLabelText("Name"), "warm-up");
    await userEvent.click(screen.getByRole("radio", { name: /A long one/ }));
    await waitFor(() => expect(first.router.state.location.search).toBe("?preset=long"));
    expect(named()).toBe("warm-up");
    first.unmount();
    const second = await open("/?preset=short");
    expect(named()).toBe("");
    second.unmount();
    await open("/?preset=long");
    expect(named()).toBe("warm-up");
  });
});
