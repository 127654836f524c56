import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { addressIs, choose, launch, openLaunch, PRESETS, serveLaunching, type } from "@/testing/launching";
import { aForecast } from "@/testing/forecasts";
import { aPreset } from "@/testing/presets";
import { onItsWay, renderPage } from "@/testing/render";
import { refusal, serve } from "@/testing/server";
import LaunchPage from "./LaunchPage";

let server: ReturnType<typeof serve>;
const posted = () => server.of("POST /runs").map(({ body }) => body);

const open = (at: string) => openLaunch(<LaunchPage />, at);

beforeEach(() => {
  server = serveLaunching();
});

it("launches the preset with changes and opens the run", async () => {
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

it("does not send invalid values and focuses the first one", async () => {
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

it("accepts a decimal comma and rejects an ambiguous comma", async () => {
  await open("/?preset=long");
  await type(/Discount gamma/, "1,000");
  await launch();
  expect(screen.getByText(/is ambiguous/)).toBeTruthy();
  await type(/Discount gamma/, "0,003");
  await launch();
  await waitFor(() => expect(posted()).toHaveLength(1));
  expect(posted()[0]).toMatchObject({ config: { gamma: 0.003 } });
});

it("shows a server error next to its field", async () => {
  const errors = [{ field: "config.gamma", message: "too far-sighted" }];
  serveLaunching({ "POST /runs": refusal(422, "Wrong.", errors) });
  await open("/");
  await launch();
  const gamma = screen.getByLabelText(/Discount gamma/);
  await screen.findByText("Too far-sighted.");
  await waitFor(() => expect(document.activeElement).toBe(gamma));
  await userEvent.type(gamma, "1");
  expect(screen.queryByText("Too far-sighted.")).toBeNull();
});

it("launches on Slurm with options, and says there what the server refuses", async () => {
  const errors = [{ field: "job_options.1", message: "A run may not set --wrap=id" }];
  server = serveLaunching({
    "GET /executors": [
      { name: "workers", title: "Workers", is_default: true },
      { name: "slurm", title: "Slurm", is_default: false },
    ],
    "POST /runs/preview": aForecast({
      capacity: { workers: 0, idle: 0, cores: null, memory_bytes: null, devices: [] },
      starts_in_seconds: null,
    }),
    "POST /runs": refusal(422, "Wrong.", errors),
  });
  await open("/");
  await screen.findByText("No CPU worker is connected. Start one to train, or train on Slurm.");
  expect(screen.queryByLabelText(/Options of sbatch/)).toBeNull();
  await userEvent.click(await screen.findByRole("combobox", { name: "Train on" }));
  await userEvent.click(await screen.findByRole("option", { name: "Slurm", hidden: true }));
  await screen.findByText("Slurm decides when it starts.");
  expect(screen.queryByText(/no worker/)).toBeNull();
  await type(/Options of sbatch/, "--qos=long\n\n --wrap=id");
  await launch();
  await screen.findByText("A run may not set --wrap=id.");
  expect(posted()).toMatchObject([{ executor: "slurm", job_options: ["--qos=long", "--wrap=id"] }]);
});

it("launches with needs of a host, and says there what the server refuses", async () => {
  const errors = [{ field: "needs.cores", message: "must be a number" }];
  server = serveLaunching({ "POST /runs": refusal(422, "Wrong.", errors) });
  await open("/");
  await type(/^Cores/, "many");
  await type(/^GPU memory/, "12.5");
  await userEvent.type(screen.getByRole("combobox", { name: "Labels" }), "a100{Enter}");
  await userEvent.click(screen.getByLabelText("Runs with a higher priority may take its place"));
  await launch();
  expect(await screen.findByText("Must be a number.")).toBeTruthy();
  expect(posted()).toMatchObject([
    { needs: { cores: "many", gpu_memory_gb: 12.5, labels: ["a100"] }, interruptible: true },
  ]);
});

it("starts from another run's configuration and shows changes from it", async () => {
  await open("/?like=12");
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "5000");
  const summary = within(screen.getByLabelText("Summary"));
  expect(summary.getByText("Unchanged from “run 12”.")).toBeTruthy();
  await type(/Discount gamma/, "0.6");
  expect(summary.getByText("0.5 → 0.6")).toBeTruthy();
});

it("shows whether fields differ from the preset", async () => {
  await open("/?preset=short");
  const summary = within(screen.getByLabelText("Summary"));
  expect(summary.getByText("Unchanged from “A short one”.")).toBeTruthy();
  await type(/Discount gamma/, "0.5");
  expect(summary.getByText("Changed from “A short one”:")).toBeTruthy();
});

it("shows what the run needs next to what the workers have", async () => {
  const measured = {
    measured_runs: 3,
    measured_on: "PAAC on CartPole",
    steps_per_second: 100,
    startup_seconds: 12,
    seconds: 102,
    memory_bytes: 16 * 2 ** 30,
    cores: 1.62,
  };
  server = serveLaunching({ "POST /runs/preview": aForecast(measured) });
  await open("/?preset=long");
  await type(/^Priority/, "5");
  const needs = within(await screen.findByRole("region", { name: "Requirements" }));
  expect((await needs.findByRole("row", { name: /Memory/ })).textContent).toBe(
    "Memory16 GiB8 GiB (too little)",
  );
  expect(needs.getByRole("row", { name: /Cores/ }).textContent).toBe("Cores1.62");
  expect(needs.getByRole("row", { name: /GPU/ }).textContent).toBe("GPUnot requirednone");
  expect(needs.getByText("About 1 min 42 s, including 12 s to start and end.")).toBeTruthy();
  expect(needs.getByText(/in 3 runs of PAAC on CartPole/)).toBeTruthy();
  expect(needs.getByText("A CPU worker is free. Training starts immediately.")).toBeTruthy();
  await waitFor(() =>
    expect(server.of("POST /runs/preview").at(-1)?.body).toMatchObject({
      config: { total_steps: 9000 },
      priority: 5,
    }),
  );
});

it("says that nothing is measured yet, and waits for valid fields", async () => {
  await open("/?preset=long");
  expect(await screen.findByText(/no run like this has been measured here yet/)).toBeTruthy();
  await type(/Total steps total_steps/, "many");
  expect(screen.getByText("Requirements are shown once all fields are valid.")).toBeTruthy();
});

it("scrolls the list of environments to the chosen one", async () => {
  const tileTop = vi.spyOn(HTMLElement.prototype, "offsetTop", "get");
  tileTop.mockImplementation(function (this: HTMLElement) {
    return this.getAttribute("aria-checked") === "true" ? 500 : 0;
  });
  await open("/?preset=short");
  const list = screen.getByLabelText("Environment to train in").querySelector("[role=radio]")?.parentElement;
  await waitFor(() => expect(list?.scrollTop).toBe(500));
  tileTop.mockRestore();
});

it("shows how the preset differs from its paper and the paper's code", async () => {
  const differing = aPreset(
    "paper",
    { algorithm: "paac", env: "CartPole-v1", total_steps: 10, gamma: 0.99 },
    {
      differences: [
        { field: "gamma", title: "Discount", paper: "0.9", code: "", ours: "0.99", why: "as its table" },
      ],
    },
  );
  serveLaunching({ "GET /presets": [...PRESETS, differing] });
  await open("/?preset=paper");
  const table = within(screen.getByLabelText("Differences from paper and code"));
  const row = within(table.getByText("Discount").closest("tr") as HTMLElement);
  expect(row.getAllByRole("cell", { hidden: true }).map(({ textContent }) => textContent)).toEqual([
    "0.9",
    "not stated",
    "0.99",
    "as its table",
  ]);
  await choose(/A short one/);
  await waitFor(() => expect(screen.queryByText(/Differences from paper and code/)).toBeNull());
});

it("resets a changed field to the preset", async () => {
  await open("/?preset=short");
  await type(/Total steps total_steps/, "7");
  expect(screen.getByText("Changed from 2000")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Reset Total steps" }));
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "2000");
  expect(screen.queryByText("Changed from 2000")).toBeNull();
});

it("lists the differences and resets one or all, but keeps the environment", async () => {
  await open("/?preset=short&env=Catch");
  await type(/Total steps total_steps/, "7");
  await type(/Discount gamma/, "0.5");
  const differences = within(screen.getByRole("region", { name: "Differences" }));
  expect(differences.getAllByRole("listitem").map(({ textContent }) => textContent)).toEqual([
    "EnvironmentCartPole-v1 → Catch",
    "Total steps2000 → 7",
    "Discount0.99 → 0.5",
  ]);
  await userEvent.click(differences.getByRole("button", { name: "Reset Discount in the summary" }));
  expect(screen.getByLabelText(/Discount gamma/)).toHaveProperty("value", "0.99");
  await userEvent.click(differences.getByRole("button", { name: "Reset all" }));
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "2000");
  expect(differences.getAllByRole("listitem")).toHaveLength(1);
  await launch();
  await waitFor(() => expect(posted()).toHaveLength(1));
  expect(posted()[0]).toMatchObject({ config: { env: "Catch", total_steps: 2000 } });
});

it("uses another method's preset for the same game and keeps changes", async () => {
  const page = await open("/?preset=long");
  await type(/Total steps total_steps/, "77");
  await choose(/^A3C/);
  await addressIs("?preset=both", page);
  expect(screen.getByRole("radio", { name: /Both hands/ })).toHaveProperty("ariaChecked", "true");
  expect(screen.queryByRole("radio", { name: /A long one/ })).toBeNull();
  await launch();
  await waitFor(() => expect(posted()).toHaveLength(1));
  expect(posted()[0]).toMatchObject({
    config: { algorithm: "a3c", env: "CartPole-v1", total_steps: 77, gamma: 0.95 },
  });
});

it("keeps several values and invalid text when the method changes", async () => {
  const page = await open("/?preset=long");
  await type(/Discount gamma/, "0.9, 0.95");
  await type(/Total steps total_steps/, "many");
  await choose(/^A3C/);
  await addressIs("?preset=both", page);
  expect(screen.getByLabelText(/Discount gamma/)).toHaveProperty("value", "0.9, 0.95");
  expect(screen.getByLabelText(/Total steps total_steps/)).toHaveProperty("value", "many");
});

it("uses defaults for a method without presets, and sends a list of numbers as one value", async () => {
  const page = await open("/?preset=long");
  await choose(/^One-step Q/);
  await addressIs("?method=one_step_q", page);
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

it("disables a method that cannot learn the game, with the reason", async () => {
  await open("/?preset=swing");
  const paac = screen.getByRole("radio", { name: /^PAAC/ });
  expect(paac).toHaveProperty("disabled", true);
  expect(within(paac).getByText("Not for Pendulum: its actions are continuous.")).toBeTruthy();
  expect(screen.getByRole("radio", { name: /^A3C/ })).toHaveProperty("disabled", false);
});

it("searches presets of all methods", async () => {
  const page = await open("/?preset=long");
  await userEvent.type(screen.getByLabelText("Search all presets"), "pendulum");
  expect(screen.queryByRole("radio", { name: /A long one/ })).toBeNull();
  await choose(/Swing up/);
  await addressIs("?preset=swing", page);
  expect(screen.getByRole("radio", { name: /^A3C/ })).toHaveProperty("ariaChecked", "true");
  expect(await screen.findByLabelText(/Discount gamma/)).toHaveProperty("value", "0.9");
});

it("sends the name, tags, notes and priority", async () => {
  await open("/?preset=short");
  await type(/^Name/, " my run ");
  await userEvent.type(screen.getByLabelText("Tags", { selector: "input" }), "a, b{Enter}");
  await type(/^Notes/, "Slower?");
  await type(/^Priority/, "5");
  await launch();
  await waitFor(() => expect(posted()).toHaveLength(1));
  expect(posted()[0]).toMatchObject({ name: "my run", tags: ["a", "b"], notes: "Slower?", priority: 5 });
});

it("requires a whole number as the priority", async () => {
  await open("/?preset=short");
  await type(/^Priority/, "soon");
  await launch();
  expect(screen.getByText("Must be a whole number.")).toBeTruthy();
  expect(posted()).toEqual([]);
});

it("shows below the summary why the server refused the launch", async () => {
  serveLaunching({ "POST /runs": refusal(503, "The queue is full.") });
  await open("/?preset=short");
  await launch();
  expect((await screen.findByText("The queue is full.")).getAttribute("role")).toBe("alert");
});

it("shows an error if the form could not be loaded", async () => {
  server = serve({ "GET /config-schema": () => refusal(500, "The schema is away.") });
  renderPage(<LaunchPage />);
  expect(await screen.findByText("The schema is away.")).toBeTruthy();
});

it("does not launch a run by Enter in the preset search", async () => {
  const { router } = await open("/");
  await userEvent.type(screen.getByLabelText("Search all presets"), "pendulum{Enter}");
  expect(posted()).toEqual([]);
  expect(router.state.location.pathname).toBe("/");
});

it("launches only one run if the button is pressed several times", async () => {
  const { router } = renderPage(<LaunchPage />, { at: "/?preset=short", routes: [onItsWay("/runs/:id")] });
  await screen.findByLabelText(/Total steps total_steps/);
  const button = screen.getByRole("button", { name: "Launch run" });
  await userEvent.click(button);
  await waitFor(() => expect(router.state.navigation.state).toBe("loading"));
  expect(button).toHaveProperty("disabled", true);
  await userEvent.click(button);
  expect(posted()).toHaveLength(1);
});

it("chooses an environment by search and Enter, with a method that can learn it", async () => {
  const page = await open("/?preset=long");
  await type(/Total steps total_steps/, "77");
  await userEvent.type(screen.getByLabelText("Search environments"), "pend{Enter}");
  await addressIs("?preset=swing", page);
  expect(screen.getByRole("radio", { name: "Pendulum" })).toHaveProperty("ariaChecked", "true");
  expect(screen.getByRole("radio", { name: /^A3C/ })).toHaveProperty("ariaChecked", "true");
  expect(screen.getByText("Recommended").closest("button")?.textContent).toContain("Swing up");
  await launch();
  await waitFor(() => expect(posted()).toHaveLength(1));
  expect(posted()[0]).toMatchObject({ config: { algorithm: "a3c", env: "Pendulum", total_steps: 77 } });
});

it("keeps the environment with the preset of a similar one, even after a reload", async () => {
  const page = await open("/?preset=long");
  await choose(/^Catch/);
  await addressIs("?preset=short&env=Catch", page);
  await choose(/A long one/);
  await addressIs("?preset=long&env=Catch", page);
  page.unmount();
  await open("/?preset=long&env=Catch");
  await launch();
  await waitFor(() => expect(posted()).toHaveLength(1));
  expect(posted()[0]).toMatchObject({ config: { env: "Catch", total_steps: 9000 } });
});

it("starts from the last launch if the URL is empty", async () => {
  const first = await open("/?preset=both");
  await choose(/^Catch/);
  await addressIs("?preset=swing&env=Catch", first);
  await launch();
  await waitFor(() => expect(first.router.state.location.pathname).toBe("/runs/77"));
  first.unmount();
  await open("/");
  expect(screen.getByRole("radio", { name: "Catch" })).toHaveProperty("ariaChecked", "true");
  expect(screen.getByRole("radio", { name: /Swing up/ })).toHaveProperty("ariaChecked", "true");
});

it("marks presets with a paper's settings", async () => {
  const paper = aPreset(
    "paper",
    { algorithm: "paac", env: "CartPole-v1", total_steps: 10 },
    { origin: "paper", source: "Clemente et al. 2017, section 5.1" },
  );
  serveLaunching({ "GET /presets": [paper, ...PRESETS] });
  await open("/");
  const card = screen.getByText("Paper's settings").closest("button");
  expect(card?.textContent).toContain("paper");
  expect(screen.getByText("Recommended").closest("button")?.textContent).toContain("A short one");
});
