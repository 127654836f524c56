import { fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { useShortcuts } from "./shortcuts";

function show() {
  const goToRuns = vi.fn();
  const launch = vi.fn();
  function Page() {
    useShortcuts([
      { keys: "g r", does: "Go to runs", run: goToRuns },
      { keys: "n", does: "Launch", run: launch },
    ]);
    return (
      <>
        <input aria-label="Name" />
        <input type="checkbox" aria-label="Select" />
      </>
    );
  }
  render(<Page />);
  return { goToRuns, launch };
}

describe("shortcuts", () => {
  it("respond to a key and to a two-key sequence", async () => {
    const { goToRuns, launch } = show();
    await userEvent.keyboard("n");
    await userEvent.keyboard("gr");
    expect(launch).toHaveBeenCalledTimes(1);
    expect(goToRuns).toHaveBeenCalledTimes(1);
  });

  it("ignore typing", async () => {
    const { launch } = show();
    await userEvent.type(screen.getByLabelText("Name"), "n");
    expect(launch).not.toHaveBeenCalled();
  });

  it("respond after a checkbox was checked", async () => {
    const { launch } = show();
    await userEvent.click(screen.getByLabelText("Select"));
    await userEvent.keyboard("n");
    expect(launch).toHaveBeenCalledTimes(1);
  });

  it("ignore the browser's shortcuts", () => {
    const { launch } = show();
    fireEvent.keyDown(document.body, { key: "n", ctrlKey: true });
    expect(launch).not.toHaveBeenCalled();
  });
});
