import { fireEvent, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
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

it("marks the sides where columns are hidden", () => {
  vi.spyOn(Element.prototype, "clientWidth", "get").mockReturnValue(390);
  vi.spyOn(Element.prototype, "scrollWidth", "get").mockReturnValue(600);
  renderPage(
    <WideTable label="Points">
      <table />
    </WideTable>,
  );
  const table = screen.getByRole("group", { name: "Points" });
  const hiddenSides = (scrollLeft: number) => {
    fireEvent.scroll(table, { target: { scrollLeft } });
    return Object.keys(table.dataset)
      .filter((name) => name.startsWith("hidden"))
      .toSorted();
  };
  expect(hiddenSides(0)).toEqual(["hiddenRight"]);
  expect(hiddenSides(100)).toEqual(["hiddenLeft", "hiddenRight"]);
  expect(hiddenSides(210)).toEqual(["hiddenLeft"]);
});
