import { fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { RouteObject } from "react-router";
import { describe, expect, it } from "vitest";
import { onItsWay, renderPage } from "@/testing/render";
import { refusal, serve, type Asked } from "@/testing/server";
import { aStudy } from "@/testing/studies";
import NewStudyPage from "./NewStudyPage";

const PRESETS = [
  {
    name: "paac-cartpole",
    title: "PAAC learns CartPole",
    config: { algorithm: "paac", learning_rate: 1e-3, seed: 1 },
  },
];
const COST = {
  points: 3,
  runs: 9,
  steps: 900_000,
  seconds: 7800,
  places: 2,
  unmeasured: [],
  estimated: [],
  confirm: null as string | null,
  refused: null as string | null,
};

const STUDY_PAGE: RouteObject = { path: "/studies/:id", element: <p>The study is there</p> };

function open(
  preview: object | ((asked: Asked) => object),
  at = "/studies/new",
  cloned = aStudy(),
  routes = [STUDY_PAGE],
) {
  const server = serve({
    "GET /presets": PRESETS,
    "GET /studies/3": cloned,
    "POST /studies/preview": preview,
    "POST /studies": aStudy(),
  });
  return { ...server, ...renderPage(<NewStudyPage />, { at, path: "/studies/new", routes }) };
}

describe("the form of a study", () => {
  it("tells runs, steps and time before it starts, and opens the study", async () => {
    const server = open(COST);
    fireEvent.change(await screen.findByLabelText(/Name/), { target: { value: "Which rate?" } });
    fireEvent.change(screen.getByLabelText("Values of axis 1"), { target: { value: "1e-4, 3e-4, 1e-3" } });
    expect(await screen.findByText("9 runs, 900 k steps, about 2 h 10 min on 2 workers")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Start study" }));
    expect(await screen.findByText("The study is there")).toBeTruthy();
    expect(server.of("POST /studies")[0]?.body).toMatchObject({
      name: "Which rate?",
      preset: "paac-cartpole",
      axes: [{ field: "learning_rate", values: [1e-4, 3e-4, 1e-3] }],
      seeds: "1-3",
      sampler: "grid",
    });
  });

  it("can be started while the runs are counted again", async () => {
    let asked = 0;
    const server = open(() => (asked++ === 0 ? COST : new Promise<object>(() => {})));
    await screen.findByText("9 runs, 900 k steps, about 2 h 10 min on 2 workers");
    fireEvent.change(screen.getByLabelText(/Name/), { target: { value: "Which rate?" } });
    await screen.findByText("Counting its runs…");
    await userEvent.click(screen.getByRole("button", { name: "Start study" }));
    await screen.findByText("The study is there");
    expect(server.of("POST /studies")[0]?.body).toMatchObject({ name: "Which rate?" });
  });

  it("shows what is wrong beside its field, and does not start it", async () => {
    open(() => refusal(422, "wrong", [{ field: "seeds", message: "write seeds as 1-5" }]));
    expect(await screen.findByText("Write seeds as 1-5.")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Start study" }).hasAttribute("disabled")).toBe(true);
  });

  it("refuses a study that is too large with its number", async () => {
    open({ ...COST, runs: 10_000, refused: "1,000 points × 10 seeds are 10,000 runs" });
    expect(await screen.findByText("1,000 points × 10 seeds are 10,000 runs")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Start study" }).hasAttribute("disabled")).toBe(true);
  });

  it("fetches the study that is cloned again when that has failed", async () => {
    let answers = 0;
    serve({
      "GET /presets": PRESETS,
      "GET /studies/3": () => (answers++ === 0 ? refusal(500, "The study is away.") : aStudy()),
      "POST /studies/preview": COST,
    });
    renderPage(<NewStudyPage />, { at: "/studies/new?from=3", path: "/studies/new" });
    await screen.findByText("The study is away.");
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByDisplayValue("Which rate?")).toBeTruthy();
  });

  it("begins as the study that is cloned", async () => {
    const server = open(COST, "/studies/new?from=3");
    expect(await screen.findByDisplayValue("Which rate?")).toBeTruthy();
    expect(screen.getByDisplayValue("0.0001, 0.001")).toBeTruthy();
    await waitFor(() => expect(server.of("POST /studies/preview").length).toBeGreaterThan(0));
    expect(server.of("POST /studies/preview").at(-1)?.body).toMatchObject({ seeds: "1, 2" });
    expect(screen.queryByLabelText("Draw points")).toBeNull();
  });

  it("keeps how the cloned study drew its points from listed values, until that is changed", async () => {
    const drawn = { ...aStudy().specification, sampler: "random" as const, points: 20 };
    const server = open(COST, "/studies/new?from=3", aStudy({ specification: drawn }));
    const asked = () => server.of("POST /studies/preview").at(-1)?.body;
    expect((await screen.findByLabelText<HTMLInputElement>("Points to draw")).value).toBe("20");
    const sampler = screen.getByLabelText<HTMLSelectElement>("Draw points");
    expect(sampler.value).toBe("random");
    await waitFor(() => expect(asked()).toMatchObject({ sampler: "random", points: 20 }));
    await userEvent.selectOptions(sampler, "Each value with each other");
    expect(screen.queryByLabelText("Points to draw")).toBeNull();
    await waitFor(() => expect(asked()).toMatchObject({ sampler: "grid", points: null }));
  });

  it("is started once however often the button is pressed while the study's page is on its way", async () => {
    const server = open(COST, "/studies/new", aStudy(), [onItsWay("/studies/:id")]);
    await userEvent.type(await screen.findByLabelText(/Name/), "Which rate?");
    await screen.findByText(/9 runs, 900 k steps/);
    const button = screen.getByRole("button", { name: "Start study" });
    await userEvent.click(button);
    await waitFor(() => expect(server.of("POST /studies")).toHaveLength(1));
    await waitFor(() => expect(sessionStorage.length).toBe(0));
    expect(button).toHaveProperty("disabled", true);
    await userEvent.click(button);
    expect(server.of("POST /studies")).toHaveLength(1);
  });

  it("keeps what was typed through a reload", async () => {
    const first = open(COST);
    await userEvent.type(await screen.findByLabelText(/Name/), "Which rate?");
    await userEvent.type(screen.getByLabelText("Values of axis 1"), "1e-4, 3e-4");
    first.unmount();
    open(COST);
    expect((await screen.findByLabelText<HTMLInputElement>(/Name/)).value).toBe("Which rate?");
    expect(screen.getByDisplayValue("1e-4, 3e-4")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Begin anew" }));
    expect(screen.getByLabelText<HTMLInputElement>(/Name/).value).toBe("");
  });

  it("asks what a comma means that may stand before decimals, and starts nothing until that is clear", async () => {
    open(COST);
    await screen.findByText(/9 runs, 900 k steps/);
    const values = screen.getByLabelText("Values of axis 1");
    await userEvent.type(values, "0,01");
    expect(screen.getByRole("alert").textContent).toMatch(/^Is “0,01” one number or two\?/);
    expect(screen.getByRole("button", { name: "Start study" })).toHaveProperty("disabled", true);
    await userEvent.clear(values);
    await userEvent.type(values, "0.01, 0.02");
    expect(screen.queryByRole("alert")).toBeNull();
    await waitFor(() =>
      expect(screen.getByRole("button", { name: "Start study" })).toHaveProperty("disabled", false),
    );
  });
});
