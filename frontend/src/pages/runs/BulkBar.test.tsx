import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import type { Run } from "@/api/types";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { BulkBar } from "./BulkBar";

const RUNS = [
  aRun({ id: 1, name: "one" }),
  aRun({ id: 2, name: "two" }),
  aRun({ id: 3, name: "done", state: "finished" }),
];

function show(runs: Run[], archived = false) {
  return renderPage(
    <BulkBar runs={runs} archived={archived} total={40} onSelectAll={vi.fn()} onClear={vi.fn()} />,
  );
}

const answered = (body: unknown) =>
  vi.spyOn(globalThis, "fetch").mockImplementation(() => Promise.resolve(Response.json(body)));

describe("the bar over selected runs", () => {
  it("says how many runs each action touches and disables what touches none", () => {
    show(RUNS);
    expect(screen.getByText("3 runs selected")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Stop 2" })).toBeTruthy();
    expect(screen.getByRole("button", { name: "Archive 1" })).toBeTruthy();
    expect(screen.getByRole("button", { name: "Resume 0" }).hasAttribute("disabled")).toBe(true);
  });

  it("leads to a comparison that its address names", () => {
    show(RUNS);
    expect(screen.getByRole("link", { name: "Compare 3" }).getAttribute("href")).toBe("/compare?runs=1,2,3");
  });

  it("asks before it stops, names what it skips, and sends only the others", async () => {
    const fetched = answered({ done: [1, 2], skipped: [] });
    show(RUNS);
    await userEvent.click(screen.getByRole("button", { name: "Stop 2" }));
    const dialog = await screen.findByRole("dialog", { name: "Stop 2 runs?" });
    expect(within(dialog).getByText("done (#3): it is finished")).toBeTruthy();
    expect(fetched).not.toHaveBeenCalled();
    await userEvent.click(within(dialog).getByRole("button", { name: "Stop 2 runs" }));
    await screen.findByText("2 runs asked to stop.");
    expect(JSON.parse(String(fetched.mock.calls[0]?.[1]?.body))).toEqual({ action: "stop", ids: [1, 2] });
  });

  it("acts at once when nothing is skipped or lost", async () => {
    const fetched = answered({ done: [1, 2], skipped: [] });
    show(RUNS.slice(0, 2));
    await userEvent.click(screen.getByRole("button", { name: "Pause 2" }));
    await waitFor(() => expect(fetched).toHaveBeenCalled());
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("lists the runs that the server skipped after all", async () => {
    answered({ done: [1], skipped: [{ id: 2, reason: "Run 2 has finished already." }] });
    show(RUNS.slice(0, 2));
    await userEvent.click(screen.getByRole("button", { name: "Pause 2" }));
    expect(await screen.findByText("#2: Run 2 has finished already.")).toBeTruthy();
  });

  it("offers to restore or purge what is archived", () => {
    show([aRun({ id: 4, state: "stopped", archived_at: "2026-01-02T00:00:00Z" })], true);
    expect(screen.getByRole("button", { name: "Restore 1" })).toBeTruthy();
    expect(screen.getByRole("button", { name: "Purge 1" })).toBeTruthy();
    expect(screen.queryByRole("button", { name: /^Stop/ })).toBeNull();
  });
});
