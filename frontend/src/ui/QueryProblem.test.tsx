import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { ApiError } from "@/api/problem";
import { renderPage } from "@/testing/render";
import { QueryProblem } from "./QueryProblem";

describe("a failed request", () => {
  it("says why, and can be repeated", async () => {
    const retry = vi.fn();
    renderPage(
      <QueryProblem error={new ApiError(503, { detail: "The database is locked." })} retry={retry} />,
    );
    expect(screen.getByText("The database is locked.")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(retry).toHaveBeenCalledOnce();
  });

  it("is not repeated for something that does not exist", () => {
    renderPage(
      <QueryProblem error={new ApiError(404, { detail: "There is no study 9." })} retry={() => undefined} />,
    );
    expect(screen.getByText("Not found")).toBeTruthy();
    expect(screen.getByText("There is no study 9.")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
  });
});
