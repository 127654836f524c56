import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { serve } from "@/testing/server";
import { ColumnMenu } from "./ColumnMenu";
import { DEFAULT_COLUMNS } from "./columns";

const method = (algorithm: string, field: string) => ({
  properties: { algorithm: { const: algorithm }, [field]: { type: "number" } },
});
const SCHEMA = { oneOf: [method("paac", "gamma"), method("a3c", "t_max"), method("gorila", "num_shards")] };

async function open(chosen: string[], metrics: string[] = []) {
  const onChange = vi.fn();
  serve({ "GET /metric-names": metrics, "GET /config-schema": SCHEMA });
  renderPage(
    <ColumnMenu
      runs={[aRun({ algorithm: "paac" }), aRun({ id: 2, algorithm: "a3c" })]}
      chosen={chosen}
      onChange={onChange}
    />,
  );
  await userEvent.click(screen.getByLabelText("Choose columns"));
  await screen.findByText("Hyperparameters");
  return onChange;
}

const checkbox = (name: string) => screen.getByLabelText<HTMLInputElement>(name);

describe("the column menu", () => {
  it("checks the shown columns, regardless of their width", async () => {
    await open(["name", "state~180!"]);
    expect(checkbox("State").checked).toBe(true);
    expect(checkbox("Tags").checked).toBe(false);
  });

  it("adds and removes a column", async () => {
    const onChange = await open(["name", "state~180"]);
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

  it("offers the hyperparameters of the listed methods, except those with a column of another name", async () => {
    const onChange = await open(["name", "config.gone"]);
    await screen.findByLabelText("t_max");
    expect(screen.queryByLabelText("algorithm")).toBeNull();
    expect(screen.queryByLabelText("num_shards")).toBeNull();
    expect(checkbox("gone").checked).toBe(true);
    expect(checkbox("t_max").checked).toBe(false);
    await userEvent.click(checkbox("gamma"));
    expect(onChange).toHaveBeenLastCalledWith(["name", "config.gone", "config.gamma"]);
  });

  it("offers the last, max and min of every reported metric", async () => {
    const onChange = await open(["name", "metric.train/custom.last"], ["train/custom"]);
    await screen.findByLabelText("Custom, max");
    expect(checkbox("Custom, last").checked).toBe(true);
    await userEvent.click(checkbox("Custom, min"));
    expect(onChange).toHaveBeenLastCalledWith([
      "name",
      "metric.train/custom.last",
      "metric.train/custom.min",
    ]);
  });

  it("resets to the default columns", async () => {
    const onChange = await open(["name"]);
    await userEvent.click(screen.getByText("Reset columns"));
    expect(onChange).toHaveBeenLastCalledWith(DEFAULT_COLUMNS);
  });
});
