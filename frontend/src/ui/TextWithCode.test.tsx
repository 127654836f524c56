import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { TextWithCode } from "./TextWithCode";

it("shows commands as code", () => {
  renderPage(
    <p>
      <TextWithCode>Start one with `arcadia worker --jobs 1`.</TextWithCode>
    </p>,
  );
  expect(screen.getByText("arcadia worker --jobs 1").tagName).toBe("CODE");
  expect(screen.getByRole("paragraph").textContent).toBe("Start one with arcadia worker --jobs 1.");
});
