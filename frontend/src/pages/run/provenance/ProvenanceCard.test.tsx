import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Provenance, Run } from "@/api/types";
import { aProvenance, anAttempt, aRunProvenance } from "@/testing/provenance";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { type Asked, serve } from "@/testing/server";
import { fakeStreams, stream } from "@/testing/stream";
import { ProvenanceCard } from "./ProvenanceCard";

const NONE = { attempt: null, provenance: null, attempts: [] };

function open(answer: object, changes: Partial<Run> = {}) {
  const server = serve({ "GET /runs/3/provenance": answer });
  renderPage(<ProvenanceCard run={aRun({ id: 3, ...changes })} />, { live: true });
  return server;
}

const openOne = (changes: Partial<Provenance> = {}) => open(aRunProvenance(changes));

/** Return the shown facts by name. */
async function facts() {
  const card = await screen.findByRole("region", { name: "Provenance" });
  const names = [...card.querySelectorAll("dt")];
  return Object.fromEntries(
    names.map((name) => [name.textContent, name.nextElementSibling?.textContent ?? ""]),
  );
}

beforeEach(fakeStreams);
afterEach(() => void vi.unstubAllGlobals());

describe("the provenance of a run", () => {
  it("shows code, host and command", async () => {
    openOne();
    expect(await facts()).toEqual({
      Arcadia: "0.1.0+3f4a75ab5123-dirty",
      Commit: "3f4a75ab5123aa0c1d2e3f4a75ab5123aa0c1d2e",
      Branch: "main",
      Changes: "uncommitted changes",
      Python: "3.11.9",
      Name: "sun",
      System: "Debian GNU/Linux 12 (Linux 6.1.0, x86_64)",
      Processor: "AMD EPYC 9554, 2 cores",
      Memory: "8 GiB",
      OMP_NUM_THREADS: "2",
    });
    expect(screen.getByText("python -m arcadia_workers.trainer --dir 'a b'")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Copy command" })).toBeTruthy();
  });

  it("shows the GPUs with their driver", async () => {
    const gpus = [{ name: "NVIDIA H200", memory_bytes: 141 * 2 ** 30 }];
    openOne({ gpus, driver: "570.124", cuda: "12.8" });
    const shown = await facts();
    expect([shown["GPU"], shown["Driver"]]).toEqual(["NVIDIA H200, 141 GiB", "570.124, CUDA 12.8"]);
  });

  it("folds the diff, which can be copied", async () => {
    const user = userEvent.setup();
    openOne();
    const summary = await screen.findByText("Uncommitted changes, 2 lines");
    expect(summary.closest("details")?.open).toBe(false);
    await user.click(summary);
    await user.click(screen.getByRole("button", { name: "Copy diff" }));
    expect(await navigator.clipboard.readText()).toBe(aProvenance().diff);
    expect(screen.getByText("notes.txt")).toBeTruthy();
    expect(screen.queryByText(/first megabyte/)).toBeNull();
  });

  it("says that a long diff was cut", async () => {
    const { checkout } = aProvenance();
    openOne({ checkout: checkout && { ...checkout, diff_cut: true } });
    expect(await screen.findByText(/Only its first megabyte was recorded/)).toBeTruthy();
  });

  it("searches the packages", async () => {
    openOne();
    await userEvent.click(await screen.findByText("3 packages"));
    const names = () => screen.getAllByRole("rowheader").map(({ textContent }) => textContent);
    expect(names()).toEqual(["numpy", "torch", "torchvision"]);
    await userEvent.type(screen.getByLabelText("Search packages"), "TORCH");
    expect(names()).toEqual(["torch", "torchvision"]);
    await userEvent.type(screen.getByLabelText("Search packages"), "x");
    expect(screen.getByText("No package has “TORCHx” in its name.")).toBeTruthy();
  });

  it("explains why git could not describe the checkout", async () => {
    openOne({ checkout: null, diff: "", problem: "git is not installed." });
    expect(await screen.findByText("git is not installed.")).toBeTruthy();
    expect((await facts())["Commit"]).toBeUndefined();
  });
});

describe("several attempts", () => {
  const attempts = (...rest: string[][]) => [
    anAttempt(1),
    ...rest.map((each, at) => anAttempt(at + 2, each)),
  ];

  it("can be switched if they differ", async () => {
    open(({ query }: Asked) => {
      const attempt = Number(query.get("attempt") ?? 2);
      const provenance = aProvenance({ host: attempt === 1 ? "sun" : "moon" });
      return { attempt, provenance, attempts: attempts(["Host", "torch"]) };
    });
    expect((await facts())["Name"]).toBe("moon");
    expect(screen.getByText("Changed since the attempt before: Host, torch.")).toBeTruthy();
    await userEvent.selectOptions(screen.getByLabelText("Attempt"), "Attempt 1");
    const card = within(screen.getByRole("region", { name: "Provenance" }));
    expect(await card.findByText("sun")).toBeTruthy();
    expect(screen.queryByText(/Changed since/)).toBeNull();
  });

  it("have no switch if they agree", async () => {
    open({ attempt: 2, provenance: aProvenance(), attempts: attempts([]) });
    await facts();
    expect(screen.queryByLabelText("Attempt")).toBeNull();
  });

  it("name a few of many changes", async () => {
    const changes = ["Host", "a", "b", "c", "d", "e", "f", "g"];
    open({ attempt: 2, provenance: aProvenance(), attempts: attempts(changes) });
    expect(
      await screen.findByText("Changed since the attempt before: Host, a, b, c, d, e and 2 more."),
    ).toBeTruthy();
  });
});

describe("a run without a provenance", () => {
  it("shows what an earlier version recorded", async () => {
    open(NONE, { versions: { torch: "2.9.1" }, command: ["python", "-m", "trainer", "a b"] });
    expect(await facts()).toEqual({ torch: "2.9.1" });
    expect(screen.getByText("python -m trainer 'a b'")).toBeTruthy();
  });

  it("shows nothing if it never started", async () => {
    const server = open(NONE, { state: "finished", versions: null, command: null });
    await screen.findByText("Loading provenance…");
    await expect.poll(() => screen.queryByText("Loading provenance…")).toBeNull();
    expect(screen.queryByRole("region", { name: "Provenance" })).toBeNull();
    expect(server.of("GET /runs/3/provenance")).toHaveLength(1);
  });

  it("shows it when the trainer has reported it", async () => {
    let reported = false;
    const server = open(() => (reported ? aRunProvenance() : NONE), { state: "running" });
    await expect.poll(() => server.of("GET /runs/3/provenance").length).toBe(1);
    reported = true;
    stream().say("run.changed", '{"run_id": 3}');
    await screen.findByRole("region", { name: "Provenance" }, { timeout: 5000 });
    expect((await facts())["Name"]).toBe("sun");
  });
});
