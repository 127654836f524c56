import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { RunName } from "./RunName";

describe("a run's name", () => {
  it("is complete on hover and for screen readers", () => {
    render(<RunName name="PAAC · CartPole · seed 3 · lr 0.001" />);
    const name = screen.getByTitle("PAAC · CartPole · seed 3 · lr 0.001");
    expect(name.textContent).toBe("PAAC · CartPole · seed 3 · lr 0.001");
    expect([...name.children].map((part) => part.textContent)).toEqual([
      "PAAC · CartPole",
      " · seed 3",
      " · lr 0.001",
    ]);
  });

  it("is not split if a user chose it", () => {
    render(<RunName name="baseline" />);
    expect(screen.getByTitle("baseline").children).toHaveLength(1);
  });
});
