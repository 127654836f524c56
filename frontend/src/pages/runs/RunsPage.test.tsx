import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import type { Run } from "@/api/types";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import RunsPage from "./RunsPage";

const CARTPOLE = {
  name: "paac-cartpole",
  title: "PAAC learns CartPole in a minute",
  shows: "A pole balanced.",
  source: "Tuned here.",
  method: "PAAC",
  config: { algorithm: "paac", env: "CartPole-v1", total_steps: 1_000_000, num_envs: 16 },
};
const WORKER = { name: "cpu-1", state: "idle" };

/** A server with these runs; what it was asked is kept. */
function serve({ runs = [] as Run[], workers = [WORKER] as object[] } = {}) {
  const asked: { method: string; url: URL; body: unknown }[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation((input, init) => {
    const url = new URL(String(input), "http://arcadia.test");
    asked.push({ method: init?.method ?? "GET", url, body: init?.body && JSON.parse(String(init.body)) });
    const answers: Record<string, unknown> = {
      "GET /api/v1/runs": { items: runs, next_cursor: null, total: runs.length },
      "POST /api/v1/runs": aRun({ id: 9 }),
      "GET /api/v1/presets": [CARTPOLE],
      "GET /api/v1/environments": [],
      "GET /api/v1/workers": workers,
      "GET /api/v1/health": { broker: { ok: true, detail: "answers" } },
    };
    return Promise.resolve(Response.json(answers[`${init?.method ?? "GET"} ${url.pathname}`]));
  });
  return asked;
}

const show = (at = "/") =>
  renderPage(<RunsPage />, { at, routes: [{ path: "/runs/:id", element: <p>The run's page</p> }] });

describe("the runs page", () => {
  it("starts a first run with one click and goes to it", async () => {
    const asked = serve();
    show();
    await userEvent.click(
      await screen.findByRole("button", { name: "Start this run: PAAC learns CartPole in a minute" }),
    );
    await screen.findByText("The run's page");
    expect(asked.find(({ method }) => method === "POST")?.body).toEqual({ preset: "paac-cartpole" });
  });

  it("says how to start a worker when none is connected", async () => {
    serve({ workers: [{ ...WORKER, state: "gone" }] });
    show();
    await screen.findByText("No worker is connected");
    expect(screen.getByText(/^arcadia worker --queue cpu --name cpu-1/)).toBeTruthy();
  });

  it("asks the server for what the address names", async () => {
    const asked = serve({ runs: [aRun()] });
    show("/?state=running&env=ALE%2FPong-v5&text=pong&sort=-last_return");
    await screen.findByText("1 match");
    const list = asked.find(({ url }) => url.pathname === "/api/v1/runs");
    expect(list?.url.searchParams.toString()).toBe(
      "state=running&env=ALE%2FPong-v5&text=pong&archived=false&sort=-last_return&limit=100",
    );
  });

  it("clears all filters at once when nothing matches", async () => {
    serve();
    const { router } = show("/?state=failed&tag=sweep&sort=name");
    await userEvent.click(await screen.findByRole("button", { name: "Clear all filters" }));
    await waitFor(() => expect(router.state.location.search).toBe("?sort=name"));
  });

  it("searches after a pause in typing, without a new entry in the history", async () => {
    const asked = serve({ runs: [aRun()] });
    const { router } = show();
    await screen.findByText("1 run");
    await userEvent.type(screen.getByRole("searchbox", { name: "Search runs" }), "pong");
    await waitFor(() => expect(router.state.location.search).toBe("?text=pong"));
    expect(router.state.historyAction).toBe("REPLACE");
    await waitFor(() => expect(asked.at(-1)?.url.searchParams.get("text")).toBe("pong"));
  });

  it("does not take an empty archive for an empty installation", async () => {
    serve();
    show("/?archived=true");
    await screen.findByText("Nothing is archived");
  });

  it("asks for the metrics that its columns tell of", async () => {
    const asked = serve({ runs: [aRun()] });
    show("/?columns=metric.train%2Fentropy.max,state");
    await screen.findByRole("columnheader", { name: /Policy entropy, greatest/ });
    const lists = asked.filter(({ url }) => url.pathname === "/api/v1/runs");
    expect(lists.map(({ url }) => url.searchParams.getAll("metric"))).toEqual([["train/entropy"]]);
  });

  it("moves, widens, pins and hides columns from the keyboard, and keeps them in the address", async () => {
    serve({ runs: [aRun()] });
    const { router } = show("/?columns=name,state,env,tags");
    const columns = () => new URLSearchParams(router.state.location.search).get("columns");
    const choose = async (column: string, item: string) => {
      await userEvent.click(await screen.findByLabelText(`Column ${column}`));
      const menu = await screen.findByRole("menu", { name: `Column ${column}`, hidden: true });
      await userEvent.click(within(menu).getByRole("menuitem", { name: item, hidden: true }));
      // While one menu goes, a click beside it only makes it go.
      await waitFor(() => expect(screen.queryByRole("menu", { hidden: true })).toBeNull());
    };
    await choose("Environment", "Move left");
    await waitFor(() => expect(columns()).toBe("name,env,state,tags"));
    await choose("Tags", "Pin to the left");
    await waitFor(() => expect(columns()).toBe("name,env,state,tags!"));
    await choose("State", "Hide");
    await waitFor(() => expect(columns()).toBe("name,env,tags!"));
    screen.getByLabelText("Width of Environment").focus();
    await userEvent.keyboard("{ArrowRight}");
    await waitFor(() => expect(columns()).toBe("name,env~140,tags!"));
    expect(screen.getAllByRole("columnheader").map(({ textContent }) => textContent)).toEqual(
      expect.arrayContaining(["Run", "Tags", "Environment"]),
    );
  });
});
