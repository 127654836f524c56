import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
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
