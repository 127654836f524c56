import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { CATALOG } from "@/testing/catalog";
import { renderPage } from "@/testing/render";
import { serve } from "@/testing/server";
import { ColumnMenu } from "./RunsToolbar";
import { DEFAULT_VIEW } from "./view";

const setting = (field: string, title: string, examples: unknown[]) => ({
  ...{ field, name: field, title, distinct: examples.length, runs: 3, examples },
});
const SETTINGS = {
  examined: 3,
  settings: [
    setting("learning_rate", "Learning rate", [0.001, 0.0001]),
    setting("gamma", "Discount", [0.99]),
    setting("algorithm", "Method", ["paac"]),
  ],
};
const SCHEMA = {
  properties: { algorithm: { const: "a3c" }, t_max: { type: "integer", title: "Rollout length" } },
};

async function open(chosen: string[], metrics: string[] = []) {
  const onChange = vi.fn();
  const onReset = vi.fn();
  const server = serve({
    "GET /metric-names": metrics,
    "GET /metric-catalog": CATALOG,
    "GET /run-settings": SETTINGS,
    "GET /config-schema": SCHEMA,
  });
  renderPage(
    <ColumnMenu
      view={{ ...DEFAULT_VIEW, filter: "return > 1" }}
      project="maze"
      chosen={chosen}
      onChange={onChange}
      onReset={onReset}
    />,
  );
  await userEvent.click(screen.getByLabelText("Choose columns"));
  await screen.findByText("Settings that differ");
  return { onChange, onReset, server };
}

const checkbox = (name: string) => screen.getByLabelText<HTMLInputElement>(name);
const section = (name: string) => within(screen.getByRole("group", { name }));

describe("the column menu", () => {
  it("focuses the expression of a computed column, and the search after it", async () => {
    const { onChange } = await open(["name"]);
    await userEvent.click(screen.getByRole("button", { name: "Computed column" }));
    expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Expression" }));
    await userEvent.keyboard("n");
    expect(screen.getByRole<HTMLInputElement>("textbox", { name: "Expression" }).value).toBe("n");
    await userEvent.click(screen.getByRole("button", { name: "Cancel" }));
    expect(document.activeElement).toBe(screen.getByRole("searchbox", { name: "Search columns" }));
    expect(onChange).not.toHaveBeenCalled();
  });

  it("checks the shown columns, regardless of their width", async () => {
    await open(["name", "state~180!"]);
    expect(checkbox("State").checked).toBe(true);
    expect(checkbox("Tags").checked).toBe(false);
  });

  it("adds and removes a column", async () => {
    const { onChange } = await open(["name", "state~180"]);
    await userEvent.click(checkbox("Tags"));
    expect(onChange).toHaveBeenLastCalledWith(["name", "state~180", "tags"]);
    await userEvent.click(checkbox("State"));
    expect(onChange).toHaveBeenLastCalledWith(["name"]);
  });

  it("cannot hide the run column", async () => {
    await open(["state"]);
    expect(checkbox("Run").checked).toBe(true);
    expect(checkbox("Run").disabled).toBe(true);
  });

  it("lists the settings of the filtered runs by title, those that differ first, with their values", async () => {
    const { onChange, server } = await open(["name", "config.t_max", "config.gone"]);
    const names = (title: string) =>
      section(title)
        .getAllByRole("checkbox")
        .map((box) => box.getAttribute("aria-label"));
    expect(names("Settings that differ")).toEqual(["Up to 4 of these automatically", "Learning rate"]);
    expect(names("Other settings")).toEqual(["Discount", "Rollout length", "gone"]);
    expect(screen.getByText("2 values: 0.001; 0.0001")).toBeTruthy();
    await userEvent.click(checkbox("Learning rate"));
    expect(onChange).toHaveBeenLastCalledWith([
      "name",
      "config.t_max",
      "config.gone",
      "config.learning_rate",
    ]);
    const query = server.of("GET /run-settings")[0]?.query;
    expect([query?.get("filter"), query?.get("project"), query?.get("every")]).toEqual([
      "return > 1",
      "maze",
      "true",
    ]);
  });

  it("finds columns by title, by the name of a field and by the name of a metric", async () => {
    await open(["name"], ["train/entropy"]);
    await screen.findByLabelText("Policy entropy, max");
    const boxes = () => screen.queryAllByRole("checkbox").map((box) => box.getAttribute("aria-label"));
    const search = screen.getByLabelText("Search columns");
    await userEvent.type(search, "rate learning");
    expect(boxes()).toEqual(["Learning rate"]);
    await userEvent.clear(search);
    await userEvent.type(search, "gamma");
    expect(boxes()).toEqual(["Discount"]);
    await userEvent.clear(search);
    await userEvent.type(search, "train/ENT");
    expect(boxes()).toEqual(["last", "max", "min"].map((word) => `Policy entropy, ${word}`));
    await userEvent.type(search, "nothing");
    expect(boxes()).toEqual([]);
    expect(screen.getByText("No column matches")).toBeTruthy();
  });

  it("offers the last, max and min of every reported metric", async () => {
    const { onChange } = await open(["name", "metric.train/custom.last"], ["train/custom"]);
    await screen.findByLabelText("Custom, max");
    expect(checkbox("Custom, last").checked).toBe(true);
    await userEvent.click(checkbox("Custom, min"));
    expect(onChange).toHaveBeenLastCalledWith([
      "name",
      "metric.train/custom.last",
      "metric.train/custom.min",
    ]);
  });

  it("resets the columns", async () => {
    const { onReset } = await open(["name"]);
    await userEvent.click(screen.getByText("Reset columns"));
    expect(onReset).toHaveBeenCalledOnce();
  });
});
