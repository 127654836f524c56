import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { Words } from "./Words";

it("set commands apart", () => {
  renderPage(
    <p>
      <Words>Start one with `arcadia worker --jobs 1`.</Words>
    </p>,
  );
  expect(screen.getByText("arcadia worker --jobs 1").tagName).toBe("CODE");
  expect(screen.getByRole("paragraph").textContent).toBe("Start one with arcadia worker --jobs 1.");
});
