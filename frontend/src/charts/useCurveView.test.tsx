import { act, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { useCurveView } from "./useCurveView";

function Axis() {
  const [view, setView] = useCurveView();
  return <button onClick={() => setView({ ...view, x: "frames" })}>by {view.x}</button>;
}

it("shows a choice immediately, and the view in the URL after a navigation", async () => {
  const { router } = renderPage(<Axis />, { at: "/?runs=1" });
  await userEvent.click(screen.getByText("by step"));
  expect(screen.getByText("by frames")).toBeTruthy();
  expect(router.state.location.search).toBe("?runs=1&x=frames");
  for (const address of ["/?runs=1%2C2", "/?runs=1"]) {
    await act(() => router.navigate(address));
    expect(screen.getByText("by step")).toBeTruthy();
  }
});
