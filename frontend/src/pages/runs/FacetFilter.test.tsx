import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { FacetFilter } from "./FacetFilter";

const GAMES = ["Catch", "Pong", "Breakout"].map((label) => ({ value: label.toLowerCase(), label }));
const MANY = Array.from({ length: 9 }, (_, at) => ({ value: `game-${at}`, label: `Game ${at}` }));

async function open(chosen: string[], options = GAMES) {
  const onChange = vi.fn();
  renderPage(<FacetFilter name="Environment" options={options} chosen={chosen} onChange={onChange} />);
  await userEvent.click(screen.getByText(/^Environment/));
  await screen.findByRole("listbox", { hidden: true });
  return onChange;
}

const offered = () => screen.getAllByRole("option", { hidden: true }).map(({ textContent }) => textContent);
const choose = (label: string) => userEvent.click(screen.getByText(label));

describe("a filter", () => {
  it("adds what is chosen to what was", async () => {
    const onChange = await open(["pong"]);
    await choose("Catch");
    expect(onChange).toHaveBeenCalledWith(["pong", "catch"]);
  });

  it("takes back what is chosen a second time", async () => {
    const onChange = await open(["pong", "catch"]);
    await userEvent.click(screen.getByRole("option", { name: "Pong", hidden: true }));
    expect(onChange).toHaveBeenCalledWith(["catch"]);
  });

  it("keeps offering what is filtered by although no run has it any more", async () => {
    await open(["chess"]);
    expect(offered()).toEqual(["Catch", "Pong", "Breakout", "chess"]);
  });

  it.each([
    [[], "Environment"],
    [["pong"], "Environment: Pong"],
    [["catch", "pong", "breakout"], "Environment: Catch +2"],
  ])("says on its button what is filtered by: %j", (chosen, words) => {
    renderPage(<FacetFilter name="Environment" options={GAMES} chosen={chosen} onChange={vi.fn()} />);
    expect(screen.getByRole("combobox", { name: words }).textContent).toBe(words);
  });

  it("is searched where it is long", async () => {
    await open([], MANY);
    await userEvent.type(screen.getByLabelText("Find environment"), " game 7");
    expect(offered()).toEqual(["Game 7"]);
    await userEvent.type(screen.getByLabelText("Find environment"), "!");
    expect(screen.getByText("Nothing to choose from")).toBeTruthy();
  });

  it("has no search where it is short", async () => {
    await open([]);
    expect(screen.queryByLabelText("Find environment")).toBeNull();
  });
});
