import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { launch, openLaunch, serveLaunching, type } from "@/testing/launching";
import { refusal } from "@/testing/server";
import { aPoint, aStudy } from "@/testing/studies";
import LaunchPage from "./LaunchPage";

const COST = {
  points: 2,
  runs: 4,
  min_runs: 4,
  steps: 40_000,
  seconds: 2400,
  concurrent_runs: 1,
  unmeasured: [],
  estimated: [],
  confirm: null as string | null,
  refused: null as string | null,
};
const routesOfStudies = [
  { path: "/compare", element: <p>The comparison</p> },
  { path: "/studies/:id", element: <p>The study</p> },
];

const serveStudies = (study: object, preview: object = COST) =>
  serveLaunching({ "POST /studies/preview": preview, "POST /studies": study });

const openForStudies = () => openLaunch(<LaunchPage />, "/?preset=long", routesOfStudies);

it("starts a study of several values, shows its cost and opens the grouped comparison", async () => {
  const runs = (first: number) =>
    [1, 2].map((seed) => ({
      ...{ seed, run_id: first + seed, state: "queued" as const },
      ...{ step: 0, total_steps: 1000, score: null },
    }));
  const server = serveStudies(
    aStudy({ table: [aPoint(0, { runs: runs(0) }), aPoint(1, { runs: runs(10) })] }),
  );
  const { router } = await openForStudies();
  await type(/Discount gamma/, "0.9, 0.99");
  expect(await screen.findByText("4 runs, 40 k steps, about 40 min on 1 worker")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Start study · 4 runs" }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/compare"));
  expect(router.state.location.search).toMatch(/^\?runs=1,2,11,12&study=\d+$/);
  expect(server.of("POST /runs")).toEqual([]);
  expect(server.of("POST /studies")[0]?.body).toMatchObject({
    name: "PAAC on CartPole-v1: discount",
    axes: [{ field: "gamma", values: [0.9, 0.99] }],
    sampler: "grid",
    seeds: [1],
    config: { algorithm: "paac", total_steps: 9000 },
  });
});

it("tries or draws values of a range, and opens the study if not all runs exist", async () => {
  const server = serveStudies(aStudy());
  const { router } = await openForStudies();
  const asked = () => server.of("POST /studies/preview").at(-1)?.body;
  await type(/Discount gamma/, "uniform(0.9, 0.98) x 3");
  await waitFor(() =>
    expect(asked()).toMatchObject({ axes: [{ field: "gamma", values: [0.9, 0.94, 0.98] }], sampler: "grid" }),
  );
  await userEvent.selectOptions(screen.getByLabelText("Combinations"), "Random points");
  await userEvent.selectOptions(screen.getByLabelText("Stop runs early"), "Below the median");
  await waitFor(() => expect(asked()).toMatchObject({ sampler: "random", pruner: "median" }));
  await userEvent.click(await screen.findByRole("button", { name: /^Start study ·/ }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/studies/3"));
  expect(server.of("POST /studies")[0]?.body).toMatchObject({
    axes: [{ field: "gamma", uniform: [0.9, 0.98] }],
    sampler: "random",
    points: 20,
    pruner: "median",
  });
});

it("adds seeds until certain, up to a limit, and opens the study", async () => {
  const server = serveStudies(aStudy({ verdict: "Undecided." }), { ...COST, min_runs: 2, runs: 60 });
  const { router } = await openForStudies();
  await type(/Discount gamma/, "0.9, 0.99");
  expect(screen.queryByLabelText("Seed limit")).toBeNull();
  await userEvent.selectOptions(screen.getByLabelText("Add seeds"), "Until certain");
  await userEvent.clear(screen.getByLabelText("Seed limit"));
  await type(/Seed limit/, "30");
  await userEvent.click(await screen.findByRole("button", { name: "Start study · 2 to 60 runs" }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/studies/3"));
  expect(server.of("POST /studies")[0]?.body).toMatchObject({ until: "certain", max_seeds: 30, seeds: [1] });
});

it("varies a field with a list, then with a range", async () => {
  const server = serveStudies(aStudy());
  await openForStudies();
  const asked = () => server.of("POST /studies/preview").at(-1)?.body;
  await userEvent.click(await screen.findByRole("button", { name: "Vary: Discount", hidden: true }));
  await type(/Discount gamma/, "0.5, 0.8");
  await waitFor(() => expect(asked()).toMatchObject({ axes: [{ field: "gamma", values: [0.5, 0.8] }] }));
  await userEvent.click(screen.getByRole("radio", { name: "Linear range", hidden: true }));
  await type(/Discount: number of values/, "4");
  await waitFor(() =>
    expect(asked()).toMatchObject({ axes: [{ field: "gamma", values: [0.5, 0.6, 0.7, 0.8] }] }),
  );
  await userEvent.click(screen.getByRole("button", { name: "One value: Discount", hidden: true }));
  expect(screen.getByLabelText(/Discount gamma/)).toHaveProperty("value", "0.99");
  expect(screen.getByRole("button", { name: "Launch run" })).toBeTruthy();
});

it("compares presets and sends only changed fields", async () => {
  const server = serveStudies(aStudy());
  await openLaunch(<LaunchPage />, "/?study=new&preset=long", routesOfStudies);
  await type(/Total steps total_steps/, "500");
  await userEvent.click(screen.getByLabelText("Presets to compare", { selector: "input" }));
  for (const name of ["A long one", "Both hands"])
    await userEvent.click(await screen.findByRole("option", { name }));
  await userEvent.click(await screen.findByRole("button", { name: /^Start study ·/ }));
  await waitFor(() => expect(server.of("POST /studies")).toHaveLength(1));
  const sent = server.of("POST /studies")[0]?.body;
  expect(sent).toMatchObject({
    axes: [{ field: "preset", values: ["long", "both"] }],
    changes: { total_steps: 500 },
  });
  expect(sent).not.toHaveProperty("config");
});

it("starts from the cloned study, including axes without a field", async () => {
  const together = { field: ["total_steps", "gamma"], values: [[100, 0.9]] };
  const axes = [{ field: "gamma", log_uniform: [0.1, 0.9] as [number, number] }];
  const specification = { ...aStudy().specification, preset: "long", total_steps: 700, axes };
  const drawn = { ...specification, sampler: "random" as const, points: 7 };
  const server = serveLaunching({
    "POST /studies/preview": COST,
    "POST /studies": aStudy(),
    "GET /studies/3": aStudy({ specification: drawn }),
    "GET /studies/4": aStudy({ specification: { ...specification, axes: [together] } }),
  });
  const { router, unmount } = await openLaunch(<LaunchPage />, "/?study=3", routesOfStudies);
  expect(screen.getByLabelText("Name")).toHaveProperty("value", "Which rate?");
  expect(screen.getByLabelText("Question")).toHaveProperty("value", "Which learns **fastest**?");
  expect(await screen.findByLabelText("Discount: from")).toHaveProperty("value", "0.1");
  await userEvent.click(await screen.findByRole("button", { name: "Start study · 4 runs" }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/studies/3"));
  expect(server.of("POST /studies")[0]?.body).toMatchObject({
    name: "Which rate?",
    config: { algorithm: "paac", total_steps: 700 },
    axes,
    sampler: "random",
    points: 7,
  });
  unmount();
  await openLaunch(<LaunchPage />, "/?study=4", routesOfStudies);
  expect(screen.getByText("Also varies total steps with discount: (100, 0.9)")).toBeTruthy();
});

it("shows an error of an axis next to its field", async () => {
  const errors = [{ field: "axes.0.values", message: "too far-sighted" }];
  serveLaunching({ "POST /studies/preview": COST, "POST /studies": refusal(422, "Wrong.", errors) });
  await openForStudies();
  await type(/Discount gamma/, "0.9, 0.99");
  await userEvent.click(await screen.findByRole("button", { name: /^Start study ·/ }));
  await screen.findByText("Too far-sighted.");
  expect(screen.getByLabelText(/Discount gamma/)).toHaveProperty("ariaInvalid", "true");
});

it("shows which value is invalid and does not start", async () => {
  const server = serveStudies(aStudy());
  await openForStudies();
  await type(/Discount gamma/, "0.9, 1.5");
  await launch();
  expect(await screen.findByText("1.5: Must be from 0 to 1.")).toBeTruthy();
  expect(server.of("POST /studies")).toEqual([]);
});

it("shows that a study is too large", async () => {
  serveStudies(aStudy(), { ...COST, refused: "1,000 points × 10 seeds are 10,000 runs" });
  await openForStudies();
  await type(/Discount gamma/, "uniform(0.9, 0.99) x 1000");
  expect((await screen.findAllByText("1,000 points × 10 seeds are 10,000 runs")).length).toBe(1);
});

it("stops counting runs if a study is refused", async () => {
  serveStudies(aStudy(), refusal(422, "A study has at most 10,000 runs."));
  await openForStudies();
  await type(/Discount gamma/, "0.9, 0.99");
  expect(await screen.findByText("A study has at most 10,000 runs.")).toBeTruthy();
  expect(screen.queryByText("Counting runs…")).toBeNull();
});

it("starts a study of unknown cost only after confirmation", async () => {
  const confirm = "the duration is unknown: PAAC on CartPole has not trained here yet";
  const server = serveStudies(aStudy(), { ...COST, seconds: null, confirm });
  await openForStudies();
  await type(/Discount gamma/, "0.9, 0.99");
  const start = await screen.findByRole("button", { name: "Start study · 4 runs" });
  expect(start).toHaveProperty("disabled", true);
  expect(screen.getByText(/PAAC on CartPole has not trained here yet\.$/)).toBeTruthy();
  await userEvent.click(screen.getByRole("checkbox", { name: "Start 40 k steps in 4 runs" }));
  await userEvent.click(start);
  await waitFor(() => expect(server.of("POST /studies")).toHaveLength(1));
  expect(server.of("POST /studies")[0]?.body).toMatchObject({ confirm_steps: 40_000 });
});
