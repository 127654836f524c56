import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { Tour } from "./Tour";

function Page() {
  const [number, setNumber] = useState(1);
  return <Tour number={number} onChange={setNumber} />;
}

const press = (name: string) => userEvent.click(screen.getByRole("button", { name }));

it("opens the next and the previous page, and can end on any page", async () => {
  const { router } = renderPage(<Page />, { at: "/", path: "*" });
  expect(screen.getByText("Find and compare runs")).toBeTruthy();
  await press("Next");
  expect(router.state.location.pathname).toBe("/launch");
  await press("Next");
  expect(router.state.location.pathname).toBe("/games");
  await press("Back");
  expect(screen.getByText("2 of 7")).toBeTruthy();
  await press("End tour");
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(router.state.location.pathname).toBe("/launch");
});

it("stops at the examples", async () => {
  const { router } = renderPage(<Page />, { at: "/", path: "*" });
  while (router.state.location.pathname !== "/examples") await press("Next");
  expect(screen.getByText("Look at trained agents")).toBeTruthy();
});

it("ends after the last page", async () => {
  renderPage(<Page />, { at: "/", path: "*" });
  for (let stop = 1; stop < 7; stop += 1) await press("Next");
  await press("Finish");
  expect(screen.queryByRole("dialog")).toBeNull();
});
