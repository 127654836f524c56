import { render, screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { RunName } from "./RunName";

describe("a run's name", () => {
  it("is whole on hover, and its parts read as one text", () => {
    render(<RunName name="PAAC · CartPole · seed 3 · lr 0.001" />);
    const name = screen.getByTitle("PAAC · CartPole · seed 3 · lr 0.001");
    expect(name.textContent).toBe("PAAC · CartPole · seed 3 · lr 0.001");
    expect([...name.children].map((part) => part.textContent)).toEqual([
      "PAAC · CartPole",
      " · seed 3 · lr 0.001",
    ]);
  });

  it("is one piece where a user chose it", () => {
    render(<RunName name="baseline" />);
    expect(screen.getByTitle("baseline").children).toHaveLength(1);
  });
});
