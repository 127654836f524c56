import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it, vi } from "vitest";
import { ApiError } from "@/api/problem";
import { renderPage } from "@/testing/render";
import { QueryError } from "./QueryError";

describe("a failed request", () => {
  it("shows the reason and can be retried", async () => {
    const retry = vi.fn();
    renderPage(<QueryError error={new ApiError(503, { detail: "The database is locked." })} retry={retry} />);
    expect(screen.getByText("The database is locked.")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(retry).toHaveBeenCalledOnce();
  });

  it("has no retry if the object does not exist", () => {
    renderPage(
      <QueryError error={new ApiError(404, { detail: "There is no study 9." })} retry={() => undefined} />,
    );
    expect(screen.getByText("Not found")).toBeTruthy();
    expect(screen.getByText("There is no study 9.")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Try again" })).toBeNull();
  });
});
