import { fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { openRuns } from "@/testing/runList";
import { aRun, runListOf } from "@/testing/runs";
import { type Asked } from "@/testing/server";
import RunsPage from "./RunsPage";

const FIGURE = { data: [], layout: {}, cursor: "first", complete: true, missing: [] };
const RUNS = Array.from({ length: 12 }, (_, at) => aRun({ id: 12 - at, name: `run ${12 - at}` }));
const CURVES = "GET /figures/curves";

function open(at: string, more: Record<string, object> = {}) {
  const server = openRuns({ runs: RUNS }, { [CURVES]: FIGURE, ...more });
  return { server, ...renderPage(<RunsPage />, { at }) };
}

const drawn = (server: ReturnType<typeof openRuns>) => server.of(CURVES).at(-1)?.query.get("runs");

beforeEach(() => {
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      constructor(private readonly changed: (entries: object[]) => void) {}
      observe() {
        this.changed([{ isIntersecting: true }]);
      }
      disconnect() {}
    },
  );
});

describe("the charts beside the runs", () => {
  it("open with the return of the first runs in their own colors, and close again", async () => {
    const { server, router } = open("/");
    await userEvent.click(await screen.findByRole("button", { name: "Charts" }));
    await screen.findByText(/^Curves of 10 of 12 runs/);
    await waitFor(() => expect(drawn(server)).toBe("3,4,5,6,7,8,9,10,11,12"));
    const { query } = server.of(CURVES)[0] as Asked;
    expect([query.get("metric"), query.get("colors"), query.get("group")]).toEqual([
      "episode/return",
      "run",
      null,
    ]);
    expect(router.state.location.search).toBe("?charts=episode%2Freturn");
    await userEvent.click(screen.getByRole("button", { name: "Close charts" }));
    await waitFor(() => expect(screen.queryByRole("complementary", { name: "Charts" })).toBeNull());
    expect(router.state.location.search).toBe("?charts=");
  });

  it("hide and show runs with their dots", async () => {
    const { server, router } = open("/?charts=episode/return");
    const dot = await screen.findByRole("button", { name: "Curve of run 12" });
    expect(dot.getAttribute("aria-pressed")).toBe("true");
    await userEvent.click(dot);
    await waitFor(() => expect(drawn(server)).toBe("2,3,4,5,6,7,8,9,10,11"));
    expect(router.state.location.search).toBe("?charts=episode%2Freturn&hidden=12");
    await userEvent.click(screen.getByRole("button", { name: "Curve of run 1" }));
    await waitFor(() => expect(drawn(server)).toBe("1,2,3,4,5,6,7,8,9,10,11"));
  });

  it("keep pinned runs on top, also those of other pages", async () => {
    const list = ({ query }: Asked) =>
      runListOf(query.has("id") ? [aRun({ id: 99, name: "the old best" })] : RUNS);
    const { server } = open("/?charts=episode/return&pinned=99", { "GET /runs": list });
    await screen.findByText("the old best");
    const boxes = screen.getAllByRole("checkbox", { name: /^Select (?!all)/ });
    expect(boxes[0]?.getAttribute("aria-label")).toBe("Select the old best");
    await waitFor(() => expect(drawn(server)).toContain("12,99"));
    await userEvent.click(screen.getByRole("button", { name: "Pin the old best" }));
    await waitFor(() => expect(screen.queryByText("the old best")).toBeNull());
  });

  it("draw one curve per group of a grouped table", async () => {
    const group = { label: "Pong", values: {}, filter: "env = Pong", states: {}, seeds: [], statistics: {} };
    const groups = [{ ...group, runs: 2, run_ids: [8, 5], newest: "2026-01-01T00:00:00Z" }];
    const { server } = open("/?charts=episode/return&by=method,env", {
      "GET /run-groups": { items: groups, total: 1 },
      "GET /run-settings": { settings: [] },
    });
    await screen.findByText("1 group: the mean of each, with its 95 % interval.");
    await waitFor(() => expect(drawn(server)).toBe("5,8"));
    const { query } = server.of(CURVES)[0] as Asked;
    expect([query.get("group_by"), query.get("colors")]).toEqual(["algorithm,env", null]);
  });

  it("remember their width", async () => {
    const { unmount } = open("/?charts=episode/return");
    const edge = await screen.findByRole("separator", { name: "Width of the charts" });
    fireEvent.keyDown(edge, { key: "ArrowLeft" });
    await waitFor(() => expect(edge.getAttribute("aria-valuenow")).toBe("472"));
    unmount();
    open("/?charts=episode/return");
    const again = await screen.findByRole("separator", { name: "Width of the charts" });
    expect(again.getAttribute("aria-valuenow")).toBe("472");
  });
});
