import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { describe, expect, it, vi } from "vitest";
import type { Run } from "@/api/types";
import { renderPage } from "@/testing/render";
import { aFinishedRun, aRun } from "@/testing/runs";
import { done, refusal, serve } from "@/testing/server";
import { RunMenu } from "./RunMenu";

async function open(run: Run) {
  const onLaunched = vi.fn();
  const onPurged = vi.fn();
  renderPage(<RunMenu run={run} onLaunched={onLaunched} onPurged={onPurged} />);
  await userEvent.click(screen.getByRole("button", { name: `Actions for ${run.name}` }));
  await screen.findByRole("menu", { hidden: true });
  return { onLaunched, onPurged };
}

const item = (name: RegExp) => screen.getByRole("menuitem", { name, hidden: true });
async function undo(notice: string) {
  const message = await screen.findByText(notice);
  await userEvent.click(within(message.parentElement as HTMLElement).getByRole("button", { name: "Undo" }));
}

const leavePage = () => window.dispatchEvent(new Event("pagehide"));
const isDisabled = (name: RegExp) => item(name).getAttribute("aria-disabled") === "true";

describe("the run menu", () => {
  it("disables actions that the server refuses, and says why", async () => {
    await open(aRun({ actions: { purge: "Run 1 is still running. Stop or pause it first." } }));
    expect(isDisabled(/^Stop run/)).toBe(false);
    expect(isDisabled(/^Resume run/)).toBe(true);
    expect(isDisabled(/^Purge run/)).toBe(true);
    expect(item(/^Purge run/).textContent).toContain("Run 1 is still running. Stop or pause it first.");
  });

  it("disables what needs a missing plug-in, and says why once", async () => {
    await open(aFinishedRun({ unsupported_because: "the plug-in toy is not installed or not allowed here" }));
    expect(screen.getAllByText("The plug-in toy is not installed or not allowed here.")).toHaveLength(1);
    const disabled = [/^Change settings/, /^Run this again/, /^Launch again/, /^Download agent/].map(
      isDisabled,
    );
    expect(disabled).toEqual([true, true, true, true]);
    expect(isDisabled(/^Export run/)).toBe(false);
    expect(isDisabled(/^Purge run/)).toBe(false);
  });

  it("focuses its first item even if it is disabled, and does nothing when that is chosen", async () => {
    const server = serve({ "POST /runs/1/stop": aRun() });
    await open(aFinishedRun({ actions: { stop: "Run 1 is finished." } }));
    await waitFor(() => expect(document.activeElement).toBe(item(/^Stop run/)));
    await userEvent.keyboard("{Enter}");
    expect(item(/^Stop run/)).toBeTruthy();
    expect(screen.queryByText("Stopping run 1…")).toBeNull();
    act(() => {
      leavePage();
    });
    expect(server.asked).toEqual([]);
    await userEvent.keyboard("{Escape}");
    await waitFor(() => expect(screen.queryByRole("menuitem", { hidden: true })).toBeNull());
  });

  it("sends the action and confirms it", async () => {
    const server = serve({ "POST /runs/1/pause": aRun({ desired: "pause" }) });
    await open(aRun());
    await userEvent.click(item(/^Pause run/));
    await screen.findByText("Run 1 pausing.");
    expect(server.asked.map(({ method, path }) => `${method} ${path}`)).toEqual(["POST /runs/1/pause"]);
  });

  it("undoes a stop before it is sent", async () => {
    const server = serve({ "POST /runs/6/stop": aRun({ id: 6, desired: "stop" }) });
    await open(aRun({ id: 6 }));
    await userEvent.click(item(/^Stop run/));
    await undo("Stopping run 6…");
    leavePage();
    expect(server.asked).toEqual([]);
  });

  it("sends a stop immediately when the page unloads", async () => {
    const server = serve({ "POST /runs/7/stop": aRun({ id: 7, desired: "stop" }) });
    await open(aRun({ id: 7 }));
    await userEvent.click(item(/^Stop run/));
    expect(server.asked).toEqual([]);
    leavePage();
    await waitFor(() => expect(server.of("POST /runs/7/stop")).toHaveLength(1));
    leavePage();
    expect(server.asked).toHaveLength(1);
  });

  it("can undo archiving", async () => {
    const server = serve({ "POST /runs/1/archive": aFinishedRun(), "POST /runs/1/restore": aFinishedRun() });
    await open(aFinishedRun());
    await userEvent.click(item(/^Archive run/));
    await undo("Run 1 archived.");
    await waitFor(() => expect(server.of("POST /runs/1/restore")).toHaveLength(1));
  });

  it("shows why the server refuses", async () => {
    serve({ "POST /runs/1/pause": () => refusal(409, "Run 1 has finished and cannot be paused.") });
    await open(aRun());
    await userEvent.click(item(/^Pause run/));
    expect(await screen.findByText("Run 1 has finished and cannot be paused.")).toBeTruthy();
  });

  it("launches a copy and reports it to the page", async () => {
    serve({ "POST /runs/1/clone": aRun({ id: 8, name: "pong-2" }) });
    const { onLaunched } = await open(aRun());
    await userEvent.click(item(/Run this again/));
    await screen.findByText("Launched pong-2 as run 8.");
    expect(onLaunched).toHaveBeenCalledWith(expect.objectContaining({ id: 8 }));
  });

  it("offers to restore an archived run", async () => {
    const archived = aFinishedRun({ archived_at: "2026-01-02T00:00:00Z", actions: { restore: null } });
    const server = serve({ "POST /runs/1/restore": aFinishedRun() });
    await open(archived);
    expect(screen.queryByRole("menuitem", { name: /^Archive/, hidden: true })).toBeNull();
    await userEvent.click(item(/^Restore run/));
    await screen.findByText("Run 1 restored.");
    expect(server.of("POST /runs/1/restore")).toHaveLength(1);
  });

  it("links to the launch form, the comparison and the exports", async () => {
    await open(aRun({ id: 12 }));
    const href = (name: RegExp) => item(name).getAttribute("href");
    expect(href(/Launch again with/)).toBe("/launch?like=12");
    expect(href(/Compare with others/)).toBe("/compare?runs=12");
    expect(href(/archive file/)).toBe("/api/v1/archives?runs=12");
    expect(href(/CSV/)).toBe("/api/v1/export/runs/12.csv");
    expect(href(/JSON Lines/)).toBe("/api/v1/export/runs/12.jsonl");
  });
});

describe("purging a run", () => {
  const purgeButton = () => screen.findByRole<HTMLButtonElement>("button", { name: "Purge run 1" });

  it("requires the run's number before it purges", async () => {
    const server = serve({ "DELETE /runs/1": done });
    const { onPurged } = await open(aFinishedRun());
    await userEvent.click(item(/^Purge run/));
    await screen.findByRole("dialog", { name: "Purge run 1?" });
    const number = screen.getByLabelText("Type 1 to confirm");
    await userEvent.type(number, "2{Enter}");
    expect((await purgeButton()).disabled).toBe(true);
    expect(server.asked).toEqual([]);

    await userEvent.clear(number);
    await userEvent.type(number, "1");
    await userEvent.click(await purgeButton());
    await screen.findByText("Run 1 purged.");
    expect(server.of("DELETE /runs/1")).toHaveLength(1);
    expect(onPurged).toHaveBeenCalledTimes(1);
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });

  it("confirms also if the live stream removes the run before the response", async () => {
    let answer: (answer: Response) => void = () => undefined;
    const server = serve({ "DELETE /runs/1": () => new Promise<Response>((now) => (answer = now)) });
    const onPurged = vi.fn();
    let leave: () => void = () => undefined;
    function Row() {
      const [listed, setListed] = useState(true);
      leave = () => setListed(false);
      return listed && <RunMenu run={aFinishedRun()} onPurged={onPurged} />;
    }
    renderPage(<Row />);
    await userEvent.click(screen.getByRole("button", { name: /^Actions for/ }));
    await userEvent.click(item(/^Purge run/));
    await userEvent.type(await screen.findByLabelText("Type 1 to confirm"), "1{Enter}");
    await waitFor(() => expect(server.of("DELETE /runs/1")).toHaveLength(1));
    act(leave);
    answer(done());
    expect(await screen.findByText("Run 1 purged.")).toBeTruthy();
    expect(onPurged).toHaveBeenCalledTimes(1);
  });

  it("keeps the dialog open when the server refuses", async () => {
    serve({ "DELETE /runs/1": () => refusal(409, "Run 1 was resumed.") });
    const { onPurged } = await open(aFinishedRun());
    await userEvent.click(item(/^Purge run/));
    await userEvent.type(await screen.findByLabelText("Type 1 to confirm"), "1{Enter}");
    expect(await screen.findByText("Run 1 was resumed.")).toBeTruthy();
    expect(screen.getByRole("dialog")).toBeTruthy();
    expect(onPurged).not.toHaveBeenCalled();
  });
});
