import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { CommandLine } from "./CommandLine";

it("copies exactly the shown command", async () => {
  const user = userEvent.setup();
  const command = "arcadia train --set 'a b'";
  renderPage(<CommandLine command={command} />);
  expect(screen.getByText(command)).toBeTruthy();
  await user.click(screen.getByLabelText("Copy command"));
  expect(await navigator.clipboard.readText()).toBe(command);
});

it("copies the selection if there is no clipboard, as over http, and shows if that fails too", async () => {
  const user = userEvent.setup();
  const copied: (string | undefined)[] = [];
  let allowed = true;
  vi.spyOn(navigator.clipboard, "writeText").mockRejectedValue(new Error("This is http."));
  document.execCommand = () => {
    copied.push(document.querySelector("textarea")?.value);
    return allowed;
  };
  renderPage(<CommandLine command="arcadia up" />);
  const button = screen.getByLabelText("Copy command");
  await user.click(button);
  expect(copied).toEqual(["arcadia up"]);
  expect(document.querySelector("textarea")).toBeNull();
  expect(document.activeElement).toBe(button);
  allowed = false;
  await user.click(button);
  expect(
    await screen.findByText(
      "The browser does not allow this page to copy. Select and copy the text yourself, or use https.",
    ),
  ).toBeTruthy();
});
