import { render, screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { Sparkline } from "./Sparkline";

const line = () =>
  screen.getByRole("img", { name: "Return" }).querySelector("polyline")?.getAttribute("points");

it("draws the values from left to right, the largest on top, without the missing ones", () => {
  render(<Sparkline values={[0, null, 10]} color="#000000" label="Return" />);
  expect(line()).toBe("1.5,22.5 78.5,1.5");
});

it("draws a constant in the middle, and a single value as a dot", () => {
  const { rerender } = render(<Sparkline values={[5, 5]} color="#000000" label="Return" />);
  expect(line()).toBe("1.5,12.0 78.5,12.0");
  rerender(<Sparkline values={[null, 5]} color="#000000" label="Return" />);
  expect(screen.getByRole("img").querySelector("circle")?.getAttribute("cx")).toBe("78.5");
});
