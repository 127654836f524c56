import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { WideTable } from "./WideTable";

it("can be focused and scrolled with the keyboard, and has a name", async () => {
  renderPage(
    <WideTable label="Table of settings">
      <table />
    </WideTable>,
  );
  await userEvent.tab();
  const reached = screen.getByRole("group", { name: "Table of settings" });
  expect(document.activeElement).toBe(reached);
  // The scrolling element itself must have the focus, not its parent.
  expect(reached.style.getPropertyValue("--table-overflow")).toBe("auto");
});
