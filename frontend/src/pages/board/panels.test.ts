import { expect, it } from "vitest";
import { MAX_HEIGHT, movePanel, newPanel, replacePanel, withSize } from "./panels";

const [a, b, c] = ["a", "b", "c"].map((key) => newPanel("curves", { key }));
const panels = [a, b, c].flatMap((panel) => panel ?? []);
const keys = (some: { key: string }[]) => some.map(({ key }) => key).join("");

it("moves a panel to a place", () => {
  expect(keys(movePanel(panels, "a", 1))).toBe("bac");
  expect(keys(movePanel(panels, "c", 0))).toBe("cab");
  expect(keys(movePanel(panels, "b", 9))).toBe("acb");
});

it("removes and copies a panel in place", () => {
  expect(keys(replacePanel(panels, "b", []))).toBe("ac");
  expect(
    keys(replacePanel(panels, "a", [newPanel("curves", { key: "x" }), newPanel("curves", { key: "y" })])),
  ).toBe("xybc");
});

it("keeps sizes within the page", () => {
  expect(withSize(newPanel("curves"), 0.4, 99_999)).toMatchObject({ columns: 1, height: MAX_HEIGHT });
  expect(withSize(newPanel("curves"), 12.6, 333.4)).toMatchObject({ columns: 12, height: 333 });
});
