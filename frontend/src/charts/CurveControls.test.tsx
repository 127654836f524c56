import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { CurveControls } from "./CurveControls";
import type { XAxis } from "./curveView";
import { useCurveView } from "./useCurveView";

function Page({ axes }: { axes?: readonly XAxis[] }) {
  const [view, setView] = useCurveView();
  return <CurveControls view={view} onChange={setView} axes={axes} forks />;
}

const box = (name: string) => screen.getByLabelText<HTMLInputElement>(name);

function open(at: string) {
  const { router } = renderPage(<Page />, { at });
  return (search: string) => waitFor(() => expect(router.state.location.search).toBe(search));
}

it("store choices in the URL and keep its other parameters", async () => {
  const address = open("/?runs=1");
  await userEvent.click(box("Time"));
  await address("?runs=1&x=time");
  await userEvent.click(box("log y"));
  await address("?runs=1&x=time&y_log=1");
  expect(box("Time").checked && box("log y").checked).toBe(true);
  await userEvent.click(box("Steps"));
  await address("?runs=1&y_log=1");
});

it("show the view in the URL", () => {
  open("/?x=frames&smoothing=0.25&x_log=1");
  expect(box("Frames").checked).toBe(true);
  expect(box("log x").checked).toBe(true);
  expect(screen.getByText("0.25")).toBeTruthy();
});

it("offer only the given axes, and the axis in the URL", () => {
  renderPage(<Page axes={["step", "time"]} />, { at: "/?x=frames" });
  expect(screen.getAllByRole("radio").map((radio) => radio.getAttribute("value"))).toEqual([
    "step",
    "frames",
    "time",
  ]);
});

it("change the smoothing by one step per arrow key", async () => {
  const address = open("/?smoothing=0.5");
  screen.getByRole("slider", { name: "Smoothing" }).focus();
  await userEvent.keyboard("{ArrowRight}");
  await address("?smoothing=0.51");
});

it("keep two choices that are made at the same time", async () => {
  const address = open("/");
  await Promise.all([userEvent.click(box("log x")), userEvent.click(box("log y"))]);
  expect(box("log x").checked && box("log y").checked).toBe(true);
  await address("?x_log=1&y_log=1");
});

it("show parent runs by default, but never on the time axis", async () => {
  const address = open("/");
  const name = "Show parent runs";
  expect(box(name).checked).toBe(true);
  await userEvent.click(box(name));
  await address("?ancestry=0");
  await userEvent.click(box(name));
  await address("");
  await userEvent.click(box("Time"));
  expect(box(name).disabled).toBe(true);
});
