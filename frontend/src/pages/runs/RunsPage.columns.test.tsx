import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { openRuns } from "@/testing/runList";
import { aRun } from "@/testing/runs";
import RunsPage from "./RunsPage";

const setting = (field: string, distinct: number) => ({
  ...{ field, name: field, title: field, distinct, runs: 2, examples: [] },
});
const number = (title: string) => ({ type: "number", title, group: "Optimization" });
const SCHEMA = {
  properties: {
    algorithm: { const: "paac" },
    learning_rate: number("Learning rate"),
    gamma: number("Discount"),
  },
};
const RUNS = [1, 2].map((id) =>
  aRun({ id, name: `run ${id}`, config: { learning_rate: id / 1000, gamma: 0.9 } }),
);

beforeEach(() => localStorage.clear());

function show(at = "/") {
  const settings = {
    examined: 2,
    settings: [setting("gamma", 2), setting("learning_rate", 2), setting("seed", 1)],
  };
  const server = openRuns({ runs: RUNS }, { "GET /run-settings": settings, "GET /config-schema": SCHEMA });
  const { router } = renderPage(<RunsPage />, { at });
  const address = () => new URLSearchParams(router.state.location.search).get("columns");
  return { server, address };
}

const headers = () => screen.getAllByRole("columnheader").map(({ textContent }) => textContent);

async function hide(column: string) {
  (await screen.findByLabelText(`Column ${column}`)).focus();
  await userEvent.keyboard("{Enter}");
  await userEvent.click(await screen.findByText("Hide"));
}

describe("the settings that differ", () => {
  it("are columns with titles by default, and their values are requested", async () => {
    const { server, address } = show();
    await screen.findByText("Learning rate", { selector: "th *" });
    expect(headers()).toEqual(expect.arrayContaining(["Best return", "Learning rate", "Discount"]));
    expect(await screen.findByText("0.002")).toBeTruthy();
    expect(server.of("GET /runs").at(-1)?.query.getAll("include")).toEqual([
      "config.learning_rate",
      "config.gamma",
    ]);
    expect(address()).toBeNull();
  });

  it("appear without moving the focus out of the row", async () => {
    let answer: (settings: object) => void = () => undefined;
    const settings = new Promise<object>((resolve) => (answer = resolve));
    openRuns({ runs: RUNS }, { "GET /run-settings": () => settings, "GET /config-schema": SCHEMA });
    renderPage(<RunsPage />);
    const link = await screen.findByRole("link", { name: "run 1" });
    link.focus();
    answer({ examined: 2, settings: [setting("learning_rate", 2)] });
    await screen.findByText("Learning rate", { selector: "th *" });
    await screen.findByText("0.002");
    expect(document.activeElement).toBe(screen.getByRole("link", { name: "run 1" }));
    expect(document.activeElement).toBe(link);
  });

  it("can be hidden, which the URL and the browser keep", async () => {
    const { address } = show("/?columns=name,differing");
    await hide("Learning rate");
    await waitFor(() => expect(address()).toBe("name,differing,-config.learning_rate"));
    expect(headers()).toEqual(["Selection", "Run", "Discount", "Actions"]);
    expect(JSON.parse(localStorage.getItem("arcadia-run-columns") ?? "")).toEqual([
      "name",
      "differing",
      "-config.learning_rate",
    ]);
  });

  it("are not added to a choice without them", async () => {
    const { server } = show("/?columns=name,state");
    await screen.findByText("2 runs");
    expect(headers()).toEqual(["Selection", "Run", "State", "Actions"]);
    expect(server.of("GET /run-settings")).toEqual([]);
  });
});
