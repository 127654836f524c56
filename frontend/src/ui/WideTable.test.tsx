import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { WideTable } from "./WideTable";

it("is reached from the keyboard, so that it can be scrolled, and says what it is", async () => {
  renderPage(
    <WideTable label="Table of settings">
      <table />
    </WideTable>,
  );
  await userEvent.tab();
  const reached = screen.getByRole("group", { name: "Table of settings" });
  expect(document.activeElement).toBe(reached);
  // What scrolls is what the keyboard reaches, not something around it.
  expect(reached.style.getPropertyValue("--table-overflow")).toBe("auto");
});
