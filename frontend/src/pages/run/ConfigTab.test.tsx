import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { Run } from "@/api/types";
import { aMethod } from "@/testing/methods";
import { aPreset } from "@/testing/presets";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { serve } from "@/testing/server";
import { ConfigSummary } from "./RunFacts";
import { ConfigTab } from "./ConfigTab";

const config = { algorithm: "paac", env: "Catch", total_steps: 5000, gamma: 0.5 };
const presets = [
  aPreset("paac-catch", { ...config, gamma: 0.99 }, { title: "PAAC learns Catch" }),
  aPreset("paac-pong", { ...config, env: "Pong", total_steps: 9, gamma: 0.1 }),
];

const NO_CHANGES = { items: [], start_config: config };

function open(element: React.ReactElement, changes: object = NO_CHANGES) {
  serve({
    "GET /presets": presets,
    "GET /config-schema": aMethod("paac", "PAAC", ["Catch", "Pong"]),
    "GET /runs/3/changes": changes,
    "GET /runs/3/provenance": { attempt: null, provenance: null, attempts: [] },
  });
  return renderPage(element);
}

const tab = (changes: Partial<Run> = {}, changed?: object) =>
  open(<ConfigTab run={aRun({ id: 3, config, ...changes })} />, changed);

/** Return the text of the cells of each setting. */
async function settings() {
  await screen.findByText("Discount");
  const table = within(screen.getByRole("region", { name: "Settings" }));
  const rows = table.getAllByRole("row").map((row) => within(row).queryAllByRole("cell"));
  return rows.filter((cells) => cells.length > 0).map((cells) => cells.map(({ textContent }) => textContent));
}

describe("the configuration of a run", () => {
  it("lists every setting with its default", async () => {
    tab();
    expect(await settings()).toEqual([
      ["algorithm algorithm", "paac", "paac"],
      ["Environment env", "Catch", "Catch"],
      ["Total steps total_steps", "5000", "1000"],
      ["Discount gamma", "0.5", "0.99"],
    ]);
  });

  it("can show only the changed settings", async () => {
    tab();
    await settings();
    await userEvent.click(screen.getByLabelText("Changed settings only (2)"));
    expect((await settings()).map(([name]) => name)).toEqual(["Total steps total_steps", "Discount gamma"]);
  });

  it("shows a setting that the method no longer has", async () => {
    tab({ config: { ...config, old_rate: 7 } });
    expect((await settings()).at(-1)).toEqual(["old_rate", "7", ""]);
  });

  it("shows commands that launch the run again", async () => {
    tab();
    expect(
      await screen.findByText("arcadia train --preset paac-catch --set gamma=0.5 --dir runs/like-3"),
    ).toBeTruthy();
    expect(screen.getByText(/^curl http.*\/api\/v1\/runs -H/).textContent).toContain(
      JSON.stringify({ config }),
    );
    expect(screen.getByText("Launch again with…").closest("a")?.getAttribute("href")).toBe("/launch?like=3");
  });

  it("lists changes, shows the value at the start, and repeats them in the command", async () => {
    const applied = {
      number: 1,
      fields: { gamma: 0.5 },
      previous: { gamma: 0.99 },
      requested_at: "2026-01-01T10:00:00Z",
      requested_by: "Ana",
      applied_at: "2026-01-01T10:00:01Z",
      applied_step: 1200,
      attempt: 1,
    };
    const waiting = { ...applied, number: 2, fields: { total_steps: 9000 }, previous: { total_steps: 5000 } };
    tab(
      {},
      {
        items: [applied, { ...waiting, applied_at: null, applied_step: null }],
        start_config: { ...config, gamma: 0.99 },
      },
    );
    await screen.findByText("Discount 0.99 → 0.5");
    const [first, second] = within(await screen.findByRole("region", { name: "Changes" }))
      .getAllByRole("row")
      .slice(1);
    expect(first?.textContent).toContain("Discount 0.99 → 0.5");
    expect(first?.textContent).toContain("by Ana");
    expect(first?.textContent).toContain("Applied at 1.2 k steps");
    expect(second?.textContent).toContain("Waiting");
    expect((await settings()).at(-1)).toEqual(["Discount gamma", "0.50.99 at the start", "0.99"]);
    expect(
      await screen.findByText("arcadia train --preset paac-catch --change 1200:gamma=0.5 --dir runs/like-3"),
    ).toBeTruthy();
  });

  it("is copied as JSON", async () => {
    const user = userEvent.setup();
    tab();
    await user.click(screen.getByText("Copy as JSON"));
    expect(await screen.findByText("Copied")).toBeTruthy();
    expect(JSON.parse(await navigator.clipboard.readText())).toEqual(config);
  });

  it("lets the keyboard scroll long commands", async () => {
    tab();
    const command = await screen.findByText(/^arcadia train --preset/);
    command.focus();
    expect(document.activeElement).toBe(command);
  });
});

describe("the configuration summary", () => {
  const marked = () =>
    [...document.querySelectorAll("dd")]
      .filter(({ className }) => className !== "")
      .map((value) => value.previousElementSibling?.textContent);

  it("marks the settings that differ from the nearest preset", async () => {
    open(<ConfigSummary run={aRun({ id: 3, config })} />);
    expect(await screen.findByText(/Bold settings differ from the preset “PAAC learns Catch”/)).toBeTruthy();
    await screen.findByText("Discount");
    expect(marked()).toEqual(["Discount"]);
  });

  it("underlines the link to all settings, which is part of a sentence", async () => {
    open(<ConfigSummary run={aRun({ id: 3, config })} />);
    const link = await screen.findByRole("link", { name: "See all settings" });
    expect(link.getAttribute("data-underline")).toBe("always");
  });

  it("marks nothing if the run equals its preset, and hides minor settings", async () => {
    open(<ConfigSummary run={aRun({ id: 3, config: { ...config, gamma: 0.99 } })} />);
    expect(await screen.findByText(/Same as the preset “PAAC learns Catch”/)).toBeTruthy();
    await screen.findByText("Total steps");
    expect(marked()).toEqual([]);
    expect(screen.queryByText("Discount")).toBeNull();
  });
});
