import { cleanup, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import type { RunConfig } from "@/api/types";
import { renderPage } from "@/testing/render";
import { aRun, runListOf } from "@/testing/runs";
import { type Asked, refusal, serve } from "@/testing/server";
import { FailureGroups } from "./FailureGroups";
import { DEFAULT_VIEW } from "./view";

const NO_GPU = 'device is "cuda", but this machine has no GPU';

function failed(id: number, message: string, config: RunConfig) {
  return aRun({ id, state: "failed", failure: { message, traceback: null }, config });
}

function show(message: string, configs: RunConfig[], answers: Record<string, object> = {}, filter = "") {
  const runs = configs.map((config, at) => failed(at + 1, `${message}\nMore.`, config));
  const server = serve({
    "GET /config-schema": {
      properties: { algorithm: { const: "a3c" }, num_envs: { type: "integer", title: "Environments" } },
    },
    "GET /run-failures": [{ message, runs: runs.length }],
    "GET /runs": ({ query }: Asked) => {
      const include =
        query.get("include") === "config" ? ["config.device", "config.num_envs"] : query.getAll("include");
      return runListOf(query.get("limit") === "1" ? runs.slice(0, 1) : runs, { include });
    },
    ...answers,
  });
  const onChoose = vi.fn();
  const view = { ...DEFAULT_VIEW, filter };
  renderPage(<FailureGroups view={view} onChoose={onChoose} />);
  return { server, onChoose };
}

describe("runs with the same failure", () => {
  it("are one line that filters the list", async () => {
    const { onChoose } = show("ValueError: shapes differ", [{}, {}, {}]);
    expect((await screen.findByTitle("ValueError: shapes differ")).textContent).toBe(
      "3 runs failed: ValueError: shapes differ",
    );
    await userEvent.click(screen.getByText("Show runs"));
    expect(onChoose).toHaveBeenCalledWith("ValueError: shapes differ");
    expect(screen.queryByText(/again/)).toBeNull();
  });

  it("are launched again with the fix after a confirmation, those that it fixes", async () => {
    const cuda = { device: "cuda" };
    const { server } = show(
      NO_GPU,
      [cuda, { device: "cpu" }, cuda],
      { "POST /runs/1/clone": aRun({ id: 8 }), "POST /runs/3/clone": aRun({ id: 9 }) },
      "return > 1",
    );
    await userEvent.click(await screen.findByText("Launch 3 again with device auto"));
    const dialog = within(await screen.findByRole("dialog"));
    expect(server.asked.filter(({ method }) => method === "POST")).toEqual([]);
    await userEvent.click(dialog.getByText("Launch again"));
    await screen.findByText("Launched 2 runs.");
    for (const id of [1, 3])
      expect(server.of(`POST /runs/${id}/clone`).map(({ body }) => body)).toEqual([
        { overrides: { device: "auto" } },
      ]);
    expect(server.of("GET /runs")[0]?.query.get("filter")).toBe(
      '(return > 1) and failure ~ "device is \\"cuda\\", but this machine has no GPU"',
    );
    await waitFor(() => expect(screen.queryByText("Launch 3 again with device auto")).toBeNull());
  });

  it("say what was launched before an error", async () => {
    const cuda = { device: "cuda" };
    show(NO_GPU, [cuda, cuda], {
      "POST /runs/1/clone": aRun({ id: 8 }),
      "POST /runs/2/clone": refusal(409, "The queue is full."),
    });
    await userEvent.click(await screen.findByText("Launch 2 again with device auto"));
    await userEvent.click(within(await screen.findByRole("dialog")).getByText("Launch again"));
    await screen.findByText("Launched 1 run.");
    expect(screen.getByText("The queue is full.")).toBeTruthy();
    expect(screen.getByText("Launch 2 again with device auto")).toBeTruthy();
  });

  it("can be dismissed, until more runs have the failure", async () => {
    const message = "ValueError: shapes differ";
    const { server } = show(message, [{}, {}, {}]);
    await userEvent.click(await screen.findByRole("button", { name: `Dismiss: ${message}` }));
    expect(screen.queryByTitle(message)).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Show 1 dismissed failure" }));
    await userEvent.click(screen.getByRole("button", { name: `Dismiss: ${message}` }));
    cleanup();
    expect(server.of("GET /run-failures")).toHaveLength(1);
    show(message, [{}, {}, {}]);
    expect(await screen.findByRole("button", { name: "Show 1 dismissed failure" })).toBeTruthy();
    cleanup();
    show(message, [{}, {}, {}, {}]);
    expect(await screen.findByTitle(message)).toBeTruthy();
  });

  it("lead to the form if the user must choose lower settings", async () => {
    show("CUDA out of memory.", [{ num_envs: 32 }]);
    const link = (await screen.findByText("Launch again with lower environments…")).closest("a");
    expect(link?.getAttribute("href")).toBe("/launch?like=1");
    expect(link?.title).toBe("Lower environments (32)");
  });
});
