import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { useFirst } from "./useFirst";

function Numbers({ count }: { count: number }) {
  const [rows, more] = useFirst(
    Array.from({ length: count }, (_, number) => number),
    3,
    "numbers",
  );
  return (
    <>
      <p>{rows.join()}</p>
      {more}
    </>
  );
}

it("shows the first rows, and all on request", async () => {
  renderPage(<Numbers count={5} />);
  expect(screen.getByText("0,1,2")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Show all 5 numbers" }));
  expect(screen.getByText("0,1,2,3,4")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Show fewer" }));
  expect(screen.getByText("0,1,2")).toBeTruthy();
});

it("has no button for a short list", () => {
  renderPage(<Numbers count={3} />);
  expect(screen.getByText("0,1,2")).toBeTruthy();
  expect(screen.queryByRole("button")).toBeNull();
});
