import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { CommandLine } from "./CommandLine";

it("copies exactly the command that it shows", async () => {
  const user = userEvent.setup();
  const command = "arcadia train --set 'a b'";
  renderPage(<CommandLine command={command} />);
  expect(screen.getByText(command)).toBeTruthy();
  await user.click(screen.getByLabelText("Copy the command"));
  expect(await navigator.clipboard.readText()).toBe(command);
});

it("copies what is selected where the browser has no clipboard, as over http, and says if that fails too", async () => {
  const user = userEvent.setup();
  const copied: (string | undefined)[] = [];
  let allowed = true;
  vi.spyOn(navigator.clipboard, "writeText").mockRejectedValue(new Error("This is http."));
  document.execCommand = () => {
    copied.push(document.querySelector("textarea")?.value);
    return allowed;
  };
  renderPage(<CommandLine command="arcadia up" />);
  const button = screen.getByLabelText("Copy the command");
  await user.click(button);
  expect(copied).toEqual(["arcadia up"]);
  expect(document.querySelector("textarea")).toBeNull();
  expect(document.activeElement).toBe(button);
  allowed = false;
  await user.click(button);
  expect(await screen.findByText("The browser lets this page copy nothing. It may over https.")).toBeTruthy();
});
