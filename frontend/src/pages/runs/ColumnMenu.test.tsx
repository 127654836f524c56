import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { serve } from "@/testing/server";
import { ColumnMenu } from "./ColumnMenu";
import { DEFAULT_COLUMNS } from "./columns";

async function open(chosen: string[], metrics: string[] = []) {
  const onChange = vi.fn();
  serve({ "GET /metric-names": metrics });
  renderPage(
    <ColumnMenu
      runs={[aRun({ config: { algorithm: "paac", gamma: 0.9 } }), aRun({ id: 2, config: { t_max: 5 } })]}
      chosen={chosen}
      onChange={onChange}
    />,
  );
  await userEvent.click(screen.getByLabelText("Choose columns"));
  await screen.findByText("Hyper-parameters");
  return onChange;
}

const box = (name: string) => screen.getByLabelText<HTMLInputElement>(name);

describe("the menu of columns", () => {
  it("shows which columns there are, whatever their width", async () => {
    await open(["name", "state~180!"]);
    expect(box("State").checked).toBe(true);
    expect(box("Tags").checked).toBe(false);
  });

  it("adds a column and takes one away", async () => {
    const onChange = await open(["name", "state~180"]);
    await userEvent.click(box("Tags"));
    expect(onChange).toHaveBeenLastCalledWith(["name", "state~180", "tags"]);
    await userEvent.click(box("State"));
    expect(onChange).toHaveBeenLastCalledWith(["name"]);
  });

  it("never hides the run itself", async () => {
    await open(["state"]);
    expect(box("Run").checked).toBe(true);
    expect(box("Run").disabled).toBe(true);
  });

  it("offers every hyper-parameter that a run has, but for those with a column already", async () => {
    const onChange = await open(["name"]);
    expect(screen.queryByLabelText("algorithm")).toBeNull();
    expect(box("t_max").checked).toBe(false);
    await userEvent.click(box("gamma"));
    expect(onChange).toHaveBeenLastCalledWith(["name", "config.gamma"]);
  });

  it("offers the last, max and min of every metric that runs have reported", async () => {
    const onChange = await open(["name", "metric.train/custom.last"], ["train/custom"]);
    await screen.findByLabelText("Custom, max");
    expect(box("Custom, last").checked).toBe(true);
    await userEvent.click(box("Custom, min"));
    expect(onChange).toHaveBeenLastCalledWith([
      "name",
      "metric.train/custom.last",
      "metric.train/custom.min",
    ]);
  });

  it("goes back to the columns that everybody begins with", async () => {
    const onChange = await open(["name"]);
    await userEvent.click(screen.getByText("Reset columns"));
    expect(onChange).toHaveBeenLastCalledWith(DEFAULT_COLUMNS);
  });
});
