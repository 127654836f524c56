import { fireEvent, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ReactNode } from "react";
import { describe, expect, it, vi } from "vitest";
import { useShortcuts } from "./shortcuts";

function show(children?: ReactNode) {
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
        {children}
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

  it.each(["dialog", "alertdialog", "menu"])("wait until an open %s is closed", async (role) => {
    const { launch } = show(<div role={role}>A popover without the focus</div>);
    await userEvent.keyboard("n");
    expect(launch).not.toHaveBeenCalled();
  });

  it("respond beside a closed menu that stays in the document", async () => {
    const { launch } = show(<div role="menu" style={{ display: "none" }} />);
    await userEvent.keyboard("n");
    expect(launch).toHaveBeenCalledTimes(1);
  });

  it("ignore typing in an editor", () => {
    const { launch } = show(
      <div contentEditable suppressContentEditableWarning>
        <p>Words</p>
      </div>,
    );
    fireEvent.keyDown(screen.getByText("Words"), { key: "n" });
    expect(launch).not.toHaveBeenCalled();
  });

  it("ignore the browser's shortcuts", () => {
    const { launch } = show();
    fireEvent.keyDown(document.body, { key: "n", ctrlKey: true });
    expect(launch).not.toHaveBeenCalled();
  });
});
