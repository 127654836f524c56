import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { FacetFilter } from "./RunFilters";

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

describe("a facet filter", () => {
  it("adds a value", async () => {
    const onChange = await open(["pong"]);
    await choose("Catch");
    expect(onChange).toHaveBeenCalledWith(["pong", "catch"]);
  });

  it("removes a value that is clicked again", async () => {
    const onChange = await open(["pong", "catch"]);
    await userEvent.click(screen.getByRole("option", { name: "Pong", hidden: true }));
    expect(onChange).toHaveBeenCalledWith(["catch"]);
  });

  it("still offers an active value that no run has anymore", async () => {
    await open(["chess"]);
    expect(offered()).toEqual(["Catch", "Pong", "Breakout", "chess"]);
  });

  it.each([
    [[], "Environment"],
    [["pong"], "Environment: Pong"],
    [["catch", "pong", "breakout"], "Environment: Catch +2"],
  ])("names the active values on its button: %j", (chosen, label) => {
    renderPage(<FacetFilter name="Environment" options={GAMES} chosen={chosen} onChange={vi.fn()} />);
    expect(screen.getByRole("combobox", { name: label }).textContent).toBe(label);
  });

  it("has a search field if the list is long", async () => {
    await open([], MANY);
    await userEvent.type(screen.getByLabelText("Find environment"), " game 7");
    expect(offered()).toEqual(["Game 7"]);
    await userEvent.type(screen.getByLabelText("Find environment"), "!");
    expect(screen.getByText("No matches")).toBeTruthy();
  });

  it("has no search field if the list is short", async () => {
    await open([]);
    expect(screen.queryByLabelText("Find environment")).toBeNull();
  });
});
