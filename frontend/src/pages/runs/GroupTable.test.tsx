import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { aRun, runListOf } from "@/testing/runs";
import { type Asked, serve } from "@/testing/server";
import { GroupTable } from "./GroupTable";
import { DEFAULT_VIEW } from "./view";

const group = (label: string, filter: string, changes: object = {}) => ({
  label,
  filter,
  runs: 5,
  states: { finished: 4, running: 1 },
  statistics: { return: { mean: 18.2, std: 1.1, n: 5 }, best_return: { mean: null, std: null, n: 0 } },
  newest: "2026-01-01T10:30:00Z",
  seeds: [1, 2],
  run_ids: [2, 1],
  values: {},
  ...changes,
});

function groups({ query }: Asked) {
  if (query.get("by") === "method") return { items: [group("A3C", "method = A3C")], total: 1 };
  return {
    items: [group("lr 7e-4", `(${query.get("filter")}) and learning_rate = 7e-4`, { runs: 1 })],
    total: 3,
  };
}

it("opens each group into the groups of the next field, and then into its runs", async () => {
  const server = serve({
    "GET /run-groups": groups,
    "GET /runs": runListOf([aRun({ id: 7, name: "A3C on Pong" })]),
    "GET /sparklines": [{ run_id: 7, values: [1, 2] }],
  });
  renderPage(
    <GroupTable
      view={{ ...DEFAULT_VIEW, by: ["method", "learning_rate"] }}
      project={null}
      baseline={null}
      onBaseline={vi.fn()}
      onSort={vi.fn()}
    />,
  );
  expect(await screen.findByText("18.2 (SD 1.1)")).toBeTruthy();
  expect(screen.getByRole("link", { name: "5 runs" }).title).toBe("4 finished, 1 running");
  await userEvent.click(screen.getByRole("button", { name: "Open A3C" }));
  await userEvent.click(await screen.findByRole("button", { name: "Open lr 7e-4" }));
  expect(screen.getByText("2 more groups. Filter the runs to see them.")).toBeTruthy();
  expect(await screen.findByRole("link", { name: "A3C on Pong" })).toBeTruthy();
  expect(server.of("GET /runs").at(-1)?.query.get("filter")).toBe("(method = A3C) and learning_rate = 7e-4");
  expect(await screen.findByRole("img", { name: "Return during training" })).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Close A3C" }));
  expect(screen.queryByText("lr 7e-4")).toBeNull();
});

it("sorts groups of every level by a column, and reverses the order", async () => {
  const server = serve({ "GET /run-groups": groups });
  function Page() {
    const [groupSort, setGroupSort] = useState(DEFAULT_VIEW.groupSort);
    return (
      <GroupTable
        view={{ ...DEFAULT_VIEW, by: ["method", "learning_rate"], groupSort }}
        project={null}
        baseline={null}
        onBaseline={vi.fn()}
        onSort={setGroupSort}
      />
    );
  }
  renderPage(<Page />);
  const sorts = () => server.of("GET /run-groups").map(({ query }) => query.get("sort"));
  await userEvent.click(await screen.findByRole("button", { name: "Open A3C" }));
  expect(screen.getByRole("columnheader", { name: "Newest" }).getAttribute("aria-sort")).toBe("descending");
  await userEvent.click(screen.getByRole("button", { name: "Best return" }));
  await userEvent.click(screen.getByRole("button", { name: "Best return" }));
  expect(screen.getByRole("columnheader", { name: "Best return" }).getAttribute("aria-sort")).toBe(
    "ascending",
  );
  await userEvent.click(screen.getByRole("button", { name: "Group" }));
  await waitFor(() => expect(sorts()).toContain("-learning_rate"));
  expect(new Set(sorts())).toEqual(
    new Set(["-newest", "-best_return.mean", "best_return.mean", "-method", "-learning_rate"]),
  );
  expect(screen.queryByRole("button", { name: "Curve" })).toBeNull();
});

it("links to the list of a group's runs", async () => {
  serve({ "GET /run-groups": groups });
  renderPage(
    <GroupTable
      view={{ ...DEFAULT_VIEW, by: ["method"] }}
      project={null}
      baseline={null}
      onBaseline={vi.fn()}
      onSort={vi.fn()}
    />,
  );
  const link = await screen.findByRole("link", { name: "5 runs" });
  expect(link.getAttribute("href")).toBe("/?filter=method+%3D+A3C");
});

const statistics = (mean: number) => ({
  return: { mean, std: 1, n: 5 },
  best_return: { mean: null, std: null, n: 0 },
});

function compared(inGroup: boolean) {
  const fast = group("A3C", "method = A3C", { run_ids: [9, 8], statistics: statistics(20) });
  const slow = group("PAAC", "method = PAAC", { run_ids: [7], statistics: statistics(12) });
  const server = serve({
    "GET /run-groups": ({ query }: Asked) =>
      query.has("baseline")
        ? { items: [], total: 2, baseline: inGroup ? slow : null }
        : { items: [fast, slow], total: 2, baseline: null },
    "GET /runs": runListOf([aRun({ id: 9, name: "quick", last_return: 30 })]),
    "GET /sparklines": [],
  });
  const onBaseline = vi.fn();
  const baseline = aRun({ id: 7, name: "PAAC on Pong", last_return: 10 });
  const view = { ...DEFAULT_VIEW, by: ["method"], text: "pong" };
  renderPage(
    <GroupTable view={view} project={null} baseline={baseline} onBaseline={onBaseline} onSort={vi.fn()} />,
  );
  return { server, onBaseline };
}

it("shows the differences of groups from the baseline's group, and of runs from the baseline", async () => {
  const { server, onBaseline } = compared(true);
  expect(await screen.findByTitle("+8, better than PAAC")).toBeTruthy();
  expect(screen.getByText("Differences from the group of PAAC on Pong #7")).toBeTruthy();
  expect(screen.getByText("Baseline")).toBeTruthy();
  const asked = server.of("GET /run-groups").find(({ query }) => query.has("baseline"))?.query;
  expect([asked?.get("baseline"), asked?.get("by"), asked?.get("text")]).toEqual(["7", "method", "pong"]);
  await userEvent.click(screen.getByRole("button", { name: "Open A3C" }));
  expect(await screen.findByTitle("+20, better than the baseline")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Use A3C as baseline" }));
  await userEvent.click(screen.getByRole("button", { name: "Clear baseline PAAC" }));
  await userEvent.click(screen.getByRole("button", { name: "Clear baseline" }));
  expect(onBaseline.mock.calls).toEqual([[9], [null], [null]]);
});

it("shows the differences from a baseline that the filters leave out", async () => {
  compared(false);
  expect(await screen.findByTitle("+10, better than the baseline")).toBeTruthy();
  expect(screen.getByTitle("+2, better than the baseline")).toBeTruthy();
});

it("sorts groups by statistics that no column has", async () => {
  const server = serve({ "GET /run-groups": groups });
  function Sorted() {
    const [groupSort, setGroupSort] = useState("-runs");
    return (
      <GroupTable
        view={{ ...DEFAULT_VIEW, by: ["method"], groupSort }}
        project={null}
        baseline={null}
        onBaseline={vi.fn()}
        onSort={setGroupSort}
      />
    );
  }
  renderPage(<Sorted />);
  await userEvent.selectOptions(
    await screen.findByRole("combobox", { name: "Sort groups by" }),
    "Return: standard deviation",
  );
  const orders = () => server.of("GET /run-groups").map(({ query }) => query.get("sort"));
  await waitFor(() => expect(orders().at(-1)).toBe("-return.std"));
  await userEvent.click(screen.getByRole("button", { name: "Largest first" }));
  await waitFor(() => expect(orders().at(-1)).toBe("return.std"));
});
