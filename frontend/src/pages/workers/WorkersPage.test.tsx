import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { type Asked, refusal, serve } from "@/testing/server";
import { aWorker } from "@/testing/workers";
import WorkersPage from "./WorkersPage";

const open = (workers: object, plugins: object = []) => {
  serve({ "GET /workers": workers, "GET /plugins": plugins });
  return renderPage(<WorkersPage />);
};

describe("the workers", () => {
  it("are listed with their current runs", async () => {
    open([
      aWorker("cpu-1", { state: "busy", run_id: 12 }),
      aWorker("gpu-1", { queue: "gpu", device: "H200", cores: 16 }),
    ]);
    await screen.findByText("1 training, 1 idle");
    const [, busy, idle] = screen.getAllByRole("row");
    const cells = (row: HTMLElement | undefined) =>
      [...(row?.querySelectorAll("td") ?? [])].slice(1, 7).map(({ textContent }) => textContent);
    expect(cells(busy)).toEqual(["Training", "Run 12", "CPU", "cpu", "8", "16 GiB"]);
    expect(cells(idle)).toEqual(["Idle", "–", "GPU", "H200", "16", "16 GiB"]);
    expect(
      within(busy as HTMLElement)
        .getByRole("link")
        .getAttribute("href"),
    ).toBe("/runs/12");
  });

  it("are counted separately when disconnected", async () => {
    open([aWorker("cpu-1"), aWorker("cpu-2", { state: "gone" })]);
    expect(await screen.findByText("0 training, 1 idle, 1 gone")).toBeTruthy();
  });

  it("are paused, drained and resumed from their menus", async () => {
    let worker = aWorker("cpu-1", { state: "busy", run_id: 12 });
    const server = serve({
      "GET /workers": () => [worker],
      "GET /plugins": [],
      "PATCH /workers/cpu-1": ({ body }: Asked) => {
        worker = { ...worker, ...(body as object) };
        return worker;
      },
    });
    renderPage(<WorkersPage />);
    const choose = async (item: string) => {
      await userEvent.click(await screen.findByRole("button", { name: "Actions for cpu-1" }));
      await userEvent.click(await screen.findByRole("menuitem", { name: item }));
    };
    await choose("Pause after its work");
    expect(await screen.findByText("then paused")).toBeTruthy();
    await choose("Drain: put its work back in the queue");
    expect(await screen.findByText("then paused, its run is given back")).toBeTruthy();
    await choose("Take work again");
    await waitFor(() => expect(screen.queryByText(/then paused/)).toBeNull());
    expect(server.of("PATCH /workers/cpu-1").map(({ body }) => body)).toEqual([
      { desired: "pause" },
      { desired: "drain" },
      { desired: "work" },
    ]);
  });

  it("are removed only when they are gone", async () => {
    const workers = [aWorker("cpu-1", { desired: "pause" }), aWorker("cpu-2", { state: "gone" })];
    const server = serve({ "GET /workers": workers, "GET /plugins": [], "DELETE /workers/cpu-2": {} });
    renderPage(<WorkersPage />);
    expect(await screen.findByText("0 training, 0 idle, 1 paused, 1 gone")).toBeTruthy();
    await userEvent.click(await screen.findByRole("button", { name: "Actions for cpu-1" }));
    const kept = await screen.findByRole("menuitem", { name: /Remove from the list/ });
    expect(kept.textContent).toContain("Stop its process first.");
    await userEvent.keyboard("{Escape}");
    await userEvent.click(screen.getByRole("button", { name: "Actions for cpu-2" }));
    await userEvent.click(await screen.findByRole("menuitem", { name: "Remove from the list" }));
    await waitFor(() => expect(server.of("DELETE /workers/cpu-2")).toHaveLength(1));
  });

  it("have no menu for people who may not change them", async () => {
    open([aWorker("cpu-1", { may_edit: false })]);
    await screen.findByText("0 training, 1 idle");
    expect(screen.queryByRole("button", { name: /^Actions for/ })).toBeNull();
  });

  it("are marked if their build differs from the server's", async () => {
    open([
      aWorker("cpu-1", { version: "0.1.0+3f4a75ab5123", is_other_build: true }),
      aWorker("cpu-2", { is_other_build: true, state: "gone" }),
      aWorker("cpu-3"),
    ]);
    expect(await screen.findByText(/version 0\.1\.0\+3f4a75ab5123/)).toBeTruthy();
    expect(
      screen.getAllByText(/^The worker's build differs from the server's\. Update one of them\./),
    ).toHaveLength(1);
  });

  it("are marked if their disk is full", async () => {
    open([
      aWorker("cpu-1", { low_disk_megabytes: 0 }),
      aWorker("cpu-2", { low_disk_megabytes: 12 }),
      aWorker("cpu-3"),
    ]);
    expect(
      await screen.findByText("The worker's disk is full. Its work waits until there is space."),
    ).toBeTruthy();
    expect(screen.getAllByText(/disk is/)).toHaveLength(2);
  });

  it("list their plug-ins with the problems of each", async () => {
    open(
      [
        aWorker("cpu-1", {
          plugins: [
            { name: "arcadia-gae", version: "1.0", problem: null, differs: false },
            { name: "arcadia-maze", version: "0.9", problem: null, differs: true },
            { name: "arcadia-toy", version: null, problem: "It is not installed.", differs: true },
          ],
        }),
      ],
      [
        {
          name: "arcadia-gae",
          version: "1.0",
          problem: null,
          parts: [
            { kind: "method", name: "gae" },
            { kind: "preset", name: "gae-cartpole" },
            { kind: "preset", name: "gae-catch" },
          ],
        },
        { name: "arcadia-toy", version: "2.0", problem: "toy:PARTS cannot be imported: no luck", parts: [] },
      ],
    );
    expect(await screen.findByText("plug-in arcadia-gae 1.0")).toBeTruthy();
    expect(
      screen.getByText("plug-in arcadia-maze 0.9: The server has another version or lacks it."),
    ).toBeTruthy();
    expect(screen.getByText("plug-in arcadia-toy: It is not installed.")).toBeTruthy();
    expect(await screen.findByText("method: gae · presets: gae-cartpole, gae-catch")).toBeTruthy();
    expect(screen.getByText("toy:PARTS cannot be imported: no luck")).toBeTruthy();
  });

  it("have GPUs, of which those that others use are marked", async () => {
    const gpu = { index: 0, name: "A100", memory_bytes: 40 * 2 ** 30, foreign_bytes: 0, is_busy: false };
    open([aWorker("gpu-1", { gpus: [gpu, { ...gpu, index: 1, foreign_bytes: 2 ** 33, is_busy: true }] })]);
    expect(await screen.findByText("0: A100, 40 GiB")).toBeTruthy();
    expect(screen.getByText("Others use 8 GiB of it, so no run starts on it.")).toBeTruthy();
  });

  it("get labels, which those of their host share", async () => {
    let worker = aWorker("cpu-1", { labels: ["old"] });
    const server = serve({
      "GET /workers": () => [worker],
      "GET /plugins": [],
      "PATCH /workers/cpu-1": ({ body }: Asked) => {
        worker = { ...worker, ...(body as object) };
        return worker;
      },
    });
    renderPage(<WorkersPage />);
    await screen.findByText("old");
    await userEvent.click(screen.getByRole("button", { name: "Actions for cpu-1" }));
    await userEvent.click(await screen.findByRole("menuitem", { name: "Labels and name of sun…" }));
    const dialog = await screen.findByRole("dialog", { name: "Labels and name of sun" });
    await userEvent.type(within(dialog).getByRole("combobox", { name: "Labels" }), "a100{Enter}");
    await userEvent.type(within(dialog).getByLabelText("Name"), "Big one");
    await userEvent.click(within(dialog).getByRole("button", { name: "Save" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    const sent = server.of("PATCH /workers/cpu-1").map(({ body }) => body);
    expect(sent).toEqual([{ labels: ["old", "a100"], host_name: "Big one" }]);
    expect(await screen.findByText(/^Big one \(sun\) · process/)).toBeTruthy();
    expect(await screen.findByText("a100")).toBeTruthy();
  });

  it("are explained if there are none", async () => {
    open([]);
    await screen.findByText("No workers connected");
    expect(screen.getByRole("heading", { name: "Add a host" })).toBeTruthy();
  });

  it("can be fetched again after a server error", async () => {
    let answers = 0;
    open(() => (answers++ === 0 ? refusal(500, "The database is locked.") : [aWorker("cpu-1")]));
    await screen.findByText("The database is locked.");
    expect(screen.queryByText("Add a host")).toBeNull();
    await userEvent.click(screen.getByText("Try again"));
    expect(await screen.findByText("0 training, 1 idle")).toBeTruthy();
  });
});
