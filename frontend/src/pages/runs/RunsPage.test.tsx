import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { narrowScreen, openRuns } from "@/testing/runList";
import { aRun, runListOf } from "@/testing/runs";
import { type Asked, refusal } from "@/testing/server";
import { aWorker } from "@/testing/workers";
import RunsPage from "./RunsPage";

const show = (at = "/") =>
  renderPage(<RunsPage />, { at, routes: [{ path: "/runs/:id", element: <p>The run's page</p> }] });

afterEach(() => void vi.useRealTimers());

describe("the runs page", () => {
  it("starts the first run with one click and opens it", async () => {
    const server = openRuns();
    show();
    await userEvent.click(
      await screen.findByRole("button", { name: "Start this run: PAAC learns CartPole in a minute" }),
    );
    await screen.findByText("The run's page");
    expect(server.of("POST /runs").map(({ body }) => body)).toEqual([{ preset: "paac-cartpole" }]);
  });

  it("points to the archive if all runs are archived", async () => {
    const facets = ({ query }: Asked) => ({
      state: query.get("archived") === "true" ? [{ value: "finished", runs: 2 }] : [],
      ...{ algorithm: [], env: [], tag: [] },
    });
    openRuns({}, { "GET /run-facets": facets });
    const { router } = show();
    expect(await screen.findByText("All runs are archived")).toBeTruthy();
    expect(screen.queryByText("Start your first run")).toBeNull();
    await userEvent.click(screen.getByRole("switch", { name: "Archived" }));
    await waitFor(() => expect(router.state.location.search).toBe("?archived=true"));
  });

  it("shows how to start a worker if none is connected", async () => {
    openRuns({ workers: [aWorker("cpu-1", { state: "gone" })] });
    show();
    await screen.findByText("No worker is connected");
    expect(screen.getByText(/^arcadia worker --queue cpu --name cpu-1/)).toBeTruthy();
  });

  it("formats settings like the form", async () => {
    const config = { learning_rate: 0.0005, adam_eps: 0.000_01, total_steps: 115_000_000, lstm: false };
    openRuns({ runs: [aRun({ config: { ...config, shares: [0.0003, 20_000], seed: null } })] });
    const names = [...Object.keys(config), "shares", "seed", "tau"];
    show(`/?columns=${["name", ...names.map((name) => `config.${name}`)].join(",")}`);
    const row = (await screen.findByRole("checkbox", { name: /^Select (?!all)/ })).closest("tr");
    const cells = [...(row?.cells ?? [])].slice(2, -1).map(({ textContent }) => textContent);
    expect(cells).toEqual([
      "0.0005",
      "1e-5",
      "115\u202f000\u202f000",
      "off",
      "0.0003, 20\u202f000",
      "none",
      "–",
    ]);
  });

  it("hides a dismissed notice until the tab is closed", async () => {
    openRuns({ workers: [] });
    const { unmount } = show();
    await screen.findByText("No worker is connected");
    await userEvent.click(screen.getByRole("button", { name: "Dismiss notice" }));
    expect(screen.queryByText("No worker is connected")).toBeNull();
    unmount();
    const server = openRuns({ workers: [] });
    show();
    await waitFor(() => expect(server.of("GET /workers").length).toBeGreaterThan(0));
    await screen.findByRole("button", { name: /^Start this run/ });
    expect(screen.queryByText("No worker is connected")).toBeNull();
  });

  it("keeps a notice mounted when the runs arrive", async () => {
    let arrive = (_runs: object) => {};
    openRuns({ workers: [] }, { "GET /runs": () => new Promise<object>((resolve) => (arrive = resolve)) });
    show();
    const dismissButton = await screen.findByRole("button", { name: "Dismiss notice" });
    arrive(runListOf([]));
    await screen.findByRole("button", { name: /^Start this run/ });
    await userEvent.click(dismissButton);
    expect(screen.queryByText("No worker is connected")).toBeNull();
  });

  it("requests the view in the URL", async () => {
    const server = openRuns({ runs: [aRun()] });
    show("/?state=running&env=ALE%2FPong-v5&text=pong&sort=-last_return");
    await screen.findByText("1 match");
    const [list] = server.of("GET /runs");
    expect(list?.query.toString()).toBe(
      "state=running&env=ALE%2FPong-v5&text=pong&archived=false&sort=-last_return&limit=100",
    );
  });

  it("clears all filters if nothing matches", async () => {
    openRuns();
    const { router } = show("/?state=failed&tag=sweep&sort=name");
    await userEvent.click(await screen.findByRole("button", { name: "Clear all filters" }));
    await waitFor(() => expect(router.state.location.search).toBe("?sort=name"));
  });

  it("offers the values of all runs, including runs that are not loaded", async () => {
    const of = (value: string, runs: number) => [{ value, runs }];
    const facets = {
      state: [...of("running", 1), ...of("queued", 4)],
      algorithm: of("a3c", 3),
      env: of("ALE/Pong-v5", 5),
      tag: of("sweep", 2),
    };
    const server = openRuns({ runs: [aRun({ tags: [] })] }, { "GET /run-facets": facets });
    const { router } = show();
    await screen.findByText("1 run");
    await userEvent.click(screen.getByRole("combobox", { name: "Tag" }));
    await userEvent.click(await screen.findByRole("option", { name: /sweep/, hidden: true }));
    await waitFor(() => expect(router.state.location.search).toBe("?tag=sweep"));
    await userEvent.click(screen.getByRole("combobox", { name: "State" }));
    await screen.findByText("Queued");
    const listed = within(screen.getByRole("listbox", { name: "State", hidden: true }));
    const states = listed.getAllByRole("option", { hidden: true }).map(({ textContent }) => textContent);
    expect(states).toEqual(["Queued4", "Running1"]);
    expect(server.of("GET /run-facets").map(({ query }) => query.get("archived"))).toEqual(["false"]);
  });

  it("searches after a pause in typing, without a new history entry", async () => {
    const server = openRuns({ runs: [aRun()] });
    const { router } = show();
    await screen.findByText("1 run");
    await userEvent.type(screen.getByRole("searchbox", { name: "Search runs" }), "pong");
    await waitFor(() => expect(router.state.location.search).toBe("?text=pong"));
    expect(router.state.historyAction).toBe("REPLACE");
    await waitFor(() => expect(server.of("GET /runs").at(-1)?.query.get("text")).toBe("pong"));
  });

  it("also clears text that was just typed", async () => {
    openRuns({ runs: [aRun()] });
    const { router } = show("/?state=failed");
    await screen.findByRole("button", { name: "Clear all" });
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const search = screen.getByRole<HTMLInputElement>("searchbox", { name: "Search runs" });
    fireEvent.change(search, { target: { value: "pong" } });
    fireEvent.click(screen.getByRole("button", { name: "Clear all" }));
    await act(() => vi.advanceTimersByTimeAsync(1_000));
    expect(router.state.location.search).toBe("");
    expect(screen.getByRole<HTMLInputElement>("searchbox", { name: "Search runs" }).value).toBe("");
  });

  it("distinguishes an empty archive from an empty installation", async () => {
    openRuns();
    show("/?archived=true");
    await screen.findByText("No archived runs");
  });

  it("requests the metrics of its columns", async () => {
    const server = openRuns({ runs: [aRun()] });
    show("/?columns=metric.train%2Fentropy.max,state");
    await screen.findByRole("columnheader", { name: /Policy entropy, max/ });
    const lists = server.of("GET /runs").map(({ query }) => query.getAll("metric"));
    expect(lists).toEqual([["train/entropy"]]);
  });

  it("requests the settings of its columns", async () => {
    const server = openRuns({ runs: [aRun({ config: { seed: 3, gamma: 0.9 } })] });
    show("/?columns=config.seed,state");
    await screen.findByRole("columnheader", { name: /seed/ });
    expect(server.of("GET /runs").map(({ query }) => query.getAll("include"))).toEqual([["config.seed"]]);
    expect(await screen.findByText("3")).toBeTruthy();
  });

  it("has one tab stop for all column headers, with arrow keys to move between them", async () => {
    openRuns({ runs: [aRun()] });
    const { router } = show("/?columns=name,state,tags");
    const box = await screen.findByLabelText("Select all runs");
    const stops = () =>
      [...(box.closest("thead")?.querySelectorAll<HTMLElement>("button, input, [tabindex]") ?? [])].filter(
        ({ tabIndex }) => tabIndex >= 0,
      );
    const at = () =>
      document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent;
    expect(stops()).toHaveLength(2);
    box.focus();
    await userEvent.tab();
    expect(at()).toBe("Run");
    await userEvent.keyboard("{ArrowLeft}{ArrowRight}{ArrowRight}{Enter}");
    await waitFor(() => expect(router.state.location.search).toContain("sort=-state"));
    expect(at()).toBe("State");
    await userEvent.keyboard("{End}");
    expect(at()).toBe("Column Tags");
    await userEvent.keyboard("{Home}");
    expect(at()).toBe("Run");
    await userEvent.keyboard("{ArrowRight}{ArrowRight}{ArrowRight}{Enter}");
    await userEvent.click(await screen.findByText("Wider"));
    await waitFor(() => expect(router.state.location.search).toContain("state%7E164"));
    await userEvent.click(await screen.findByText("Hide"));
    await waitFor(() => expect(screen.queryByLabelText("Column State")).toBeNull());
    expect(stops()).toHaveLength(2);
  });

  it("moves, widens, pins and hides columns from the keyboard, and keeps them in the URL", async () => {
    openRuns({ runs: [aRun()] });
    const { router } = show("/?columns=name,state,env,tags");
    const columns = () => new URLSearchParams(router.state.location.search).get("columns");
    const choose = async (column: string, item: string) => {
      (await screen.findByLabelText(`Column ${column}`)).focus();
      await userEvent.keyboard("{Enter}");
      // Search by text: a search by role takes seconds on a busy machine.
      await userEvent.click(await screen.findByText(item));
      // Every menu has this item, so wait until this menu is closed.
      await waitFor(() => expect(screen.queryByText("Hide")).toBeNull());
    };
    await screen.findByText("1 run");
    await choose("Environment", "Move left");
    await waitFor(() => expect(columns()).toBe("name,env,state,tags"));
    await choose("Tags", "Pin left");
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

describe("the list of runs", () => {
  const TWO = [aRun({ id: 1, name: "one" }), aRun({ id: 2, name: "two" })];

  it("says that runs wait while the message broker is unreachable", async () => {
    openRuns({ runs: TWO }, { "GET /health": { broker: { ok: false, detail: "connection refused" } } });
    show();
    await screen.findByText("Queued runs cannot start: the message broker is unreachable");
    expect(screen.getByText(/connection refused/)).toBeTruthy();
  });

  it("says why it could not be loaded", async () => {
    let answers = 0;
    openRuns(
      {},
      { "GET /runs": () => (answers++ === 0 ? refusal(500, "The database is locked.") : runListOf(TWO)) },
    );
    show();
    await screen.findByText("The database is locked.");
    await userEvent.click(screen.getByText("Try again"));
    await screen.findByText("2 runs");
  });

  it("is sorted by a click on a column header", async () => {
    openRuns({ runs: TWO });
    const { router } = show();
    const head = await screen.findByText("Best return", { selector: "th *" });
    for (const search of ["?sort=-best_return", "?sort=best_return", ""]) {
      await userEvent.click(head);
      await waitFor(() => expect(router.state.location.search).toBe(search));
    }
  });

  it("is sorted by several columns with Shift-clicks or the menus of the headers", async () => {
    openRuns({ runs: TWO });
    const { router } = show();
    const sort = () => new URLSearchParams(router.state.location.search).get("sort");
    const header = (title: string) => screen.getByText(title, { selector: "th *" });
    await userEvent.click(await screen.findByText("Method", { selector: "th *" }));
    fireEvent.click(header("Best return"), { shiftKey: true });
    await waitFor(() => expect(sort()).toBe("-algorithm,-best_return"));
    const places = ["Method", "Best return"].map((title) => header(title).closest("th"));
    expect(places.map((th) => th?.getAttribute("aria-sort"))).toEqual(["descending", "descending"]);
    expect(places.map((th) => th?.textContent)).toEqual(["Method1", "Best return2"]);
    screen.getByLabelText("Column Steps/s").focus();
    await userEvent.keyboard("{Enter}");
    await userEvent.click(await screen.findByText("Add to sort order"));
    await waitFor(() => expect(sort()).toBe("-algorithm,-best_return,-steps_per_second"));
  });

  it("has compact rows on request, which the browser keeps", async () => {
    openRuns({ runs: TWO });
    const { unmount } = show();
    const rowHeight = async () => (await screen.findByText("one")).closest("tr")?.style.height;
    expect(await rowHeight()).toBe("48px");
    await userEvent.click(screen.getByRole("button", { name: "Compact rows" }));
    expect(await rowHeight()).toBe("32px");
    unmount();
    show();
    expect(await rowHeight()).toBe("32px");
    await userEvent.click(screen.getByRole("button", { name: "Compact rows" }));
    expect(await rowHeight()).toBe("48px");
  });

  it("groups identical failures and filters by a group", async () => {
    const full = "Out of memory: 16 GiB were not enough.";
    const server = openRuns(
      { runs: [aRun({ state: "failed" })] },
      { "GET /run-failures": [{ message: full, runs: 480 }] },
    );
    const { router } = show("/?env=Pong");
    const group = within(await screen.findByRole("group", { name: "Runs with the same failure" }));
    expect((await group.findByTitle(full)).textContent).toBe(`480 runs failed: ${full}`);
    await userEvent.click(group.getByText("Show runs"));
    await waitFor(() => expect(server.of("GET /runs").at(-1)?.query.get("text")).toBe(full));
    expect(server.of("GET /run-failures")[0]?.query.getAll("env")).toEqual(["Pong"]);
    const search = new URLSearchParams(router.state.location.search);
    expect([search.get("text"), search.getAll("state")]).toEqual([full, ["failed"]]);
    await waitFor(() => expect(screen.queryByText("Show runs")).toBeNull());
  });

  it("is navigated with j and k, selected with x and opened with Enter", async () => {
    openRuns({ runs: TWO });
    const { router } = show();
    const links = TWO.map(({ name }) => screen.findByRole("link", { name }));
    const [first, second] = await Promise.all(links);
    await userEvent.keyboard("j");
    await waitFor(() => expect(document.activeElement).toBe(first));
    await userEvent.keyboard("j");
    await waitFor(() => expect(document.activeElement).toBe(second));
    await userEvent.keyboard("k");
    await waitFor(() => expect(document.activeElement).toBe(first));
    await userEvent.keyboard("x");
    expect(await screen.findByText("1 run selected")).toBeTruthy();
    await userEvent.keyboard("{Enter}");
    await waitFor(() => expect(router.state.location.pathname).toBe("/runs/1"));
  });

  it("shows on a narrow screen a sort order that only the table offers", async () => {
    openRuns({ runs: TWO });
    show("/?sort=-frames");
    const sort = await screen.findByLabelText<HTMLSelectElement>("Sort runs");
    expect(sort.selectedOptions[0]?.textContent).toBe("Table order");
  });

  it("shows cards on a narrow screen", async () => {
    narrowScreen();
    openRuns({ runs: TWO });
    show();
    const cards = await screen.findByRole("list", { name: "Runs" });
    expect(within(cards).getAllByRole("listitem")).toHaveLength(2);
    expect(within(cards).getByText("one").closest("a")?.getAttribute("href")).toBe("/runs/1");
    expect(screen.queryByRole("table")).toBeNull();
    await userEvent.selectOptions(screen.getByLabelText("Sort runs"), "Fastest");
    expect(within(cards).getAllByText("PAAC · Pong-v5", { exact: false }).length).toBe(2);
  });
});
