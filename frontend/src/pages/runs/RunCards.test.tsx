import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { runKeys } from "@/api/runs";
import { renderPage } from "@/testing/render";
import { aRun, runListOf } from "@/testing/runs";
import { serve } from "@/testing/server";
import RunsPage from "./RunsPage";

const rendered: number[] = [];
vi.mock("./RunCell", () => ({
  RunCell({ run }: { run: { id: number; name: string } }) {
    rendered.push(run.id);
    return <span>{run.name}</span>;
  },
}));

beforeEach(() => {
  const original = window.matchMedia;
  const matchPhone = (query: string) => ({
    ...original(query),
    media: query,
    matches: query.includes("max-width"),
  });
  vi.stubGlobal("matchMedia", matchPhone);
});

it("renders only the card of the run that changed", async () => {
  const listOf = (...names: string[]) => runListOf(names.map((name, at) => aRun({ id: at + 1, name })));
  const answers: Record<string, object> = {
    "GET /runs": listOf("run 1", "run 2", "run 3"),
    "GET /run-facets": { state: [], algorithm: [], env: [], tag: [] },
    "GET /run-failures": [],
    "GET /workers": [],
    "GET /health": { broker: { ok: true } },
    "GET /presets": [],
    "GET /metric-catalog": [],
    "GET /metric-names": [],
  };
  serve(answers);
  const { client } = renderPage(<RunsPage />);
  await screen.findByText("run 3");
  rendered.length = 0;
  answers["GET /runs"] = listOf("run 1", "run two", "run 3");
  await act(() => client.invalidateQueries({ queryKey: runKeys.lists }));
  await screen.findByText("run two");
  expect(new Set(rendered)).toEqual(new Set([2]));
});

it("has the curve of each run, and buttons for what the run allows", async () => {
  const running = aRun({ id: 5, name: "fast", state: "running" });
  const server = serve({
    "GET /runs": runListOf([
      { ...running, actions: { ...running.actions, pause: null, stop: null, resume: "It is running." } },
    ]),
    "GET /run-facets": { state: [], algorithm: [], env: [], tag: [] },
    "GET /run-failures": [],
    "GET /workers": [],
    "GET /health": { broker: { ok: true } },
    "GET /presets": [],
    "GET /metric-catalog": [],
    "GET /metric-names": [],
    "GET /sparklines": [],
    "POST /runs/5/pause": running,
  });
  renderPage(<RunsPage />);
  await userEvent.click(await screen.findByRole("button", { name: "Pause fast" }));
  await waitFor(() => expect(server.of("POST /runs/5/pause")).toHaveLength(1));
  expect(screen.getByRole("button", { name: "Stop fast" })).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Resume fast" })).toBeNull();
  expect(server.of("GET /sparklines")[0]?.query.getAll("run")).toEqual(["5"]);
});
