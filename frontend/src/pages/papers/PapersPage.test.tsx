import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { aPaper } from "@/testing/papers";
import { renderPage } from "@/testing/render";
import { serve } from "@/testing/server";
import PaperPage from "./PaperPage";
import PapersPage from "./PapersPage";

describe("the pages of papers", () => {
  it("lists each paper with its tables and figures", async () => {
    serve({ "GET /papers": [aPaper()] });
    renderPage(<PapersPage />, { at: "/papers", path: "/papers" });
    const link = await screen.findByRole("link", { name: "Figure 2" });
    expect(link.getAttribute("href")).toBe("/papers/a3c/figure-2");
    expect(screen.getByRole("link", { name: "A3C" }).getAttribute("href")).toBe("/papers/a3c");
  });

  it("shows the full cost of each table and figure", async () => {
    serve({ "GET /papers/a3c": aPaper() });
    renderPage(<PaperPage />, { at: "/papers/a3c", path: "/papers/:paper" });
    expect(
      await screen.findByRole("row", { name: "Figure 2 A3C's score by learning rate 50 16 G 0" }),
    ).toBeTruthy();
  });
});
