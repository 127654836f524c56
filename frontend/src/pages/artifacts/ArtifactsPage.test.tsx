import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { anArtifact } from "@/testing/artifacts";
import { renderPage } from "@/testing/render";
import { serve } from "@/testing/server";
import ArtifactsPage from "./ArtifactsPage";

const open = (answer: object, at = "/artifacts?project=") => {
  const server = serve({ "GET /artifacts": answer });
  renderPage(<ArtifactsPage />, { at, path: "/artifacts" });
  return server;
};

describe("the list of artifacts", () => {
  it("shows the newest version of each, and further pages", async () => {
    const server = open(({ query }: { query: URLSearchParams }) =>
      query.has("before")
        ? { items: [anArtifact({ id: 4, name: "data" })], next_cursor: null }
        : { items: [anArtifact()], next_cursor: 7 },
    );
    expect((await screen.findByRole("link", { name: "agent" })).getAttribute("href")).toBe("/artifacts/3");
    expect(screen.getByText("best")).toBeTruthy();
    expect(screen.getByRole("link", { name: "My run" }).getAttribute("href")).toBe("/runs/1/artifacts");
    await userEvent.click(screen.getByRole("button", { name: "Show more" }));
    expect(await screen.findByRole("link", { name: "data" })).toBeTruthy();
    expect(server.of("GET /artifacts").at(-1)?.query.get("before")).toBe("7");
  });

  it("searches by name", async () => {
    const server = open(({ query }: { query: URLSearchParams }) => ({
      items: query.has("search") ? [] : [anArtifact()],
      next_cursor: null,
    }));
    await userEvent.type(await screen.findByRole("searchbox", { name: "Search artifacts by name" }), "x");
    expect(await screen.findByText("No artifact has “x” in its name.")).toBeTruthy();
    await waitFor(() => expect(server.of("GET /artifacts").at(-1)?.query.get("search")).toBe("x"));
  });

  it("says how to log the first one", async () => {
    open({ items: [], next_cursor: null }, "/artifacts?project=Maze");
    expect(await screen.findByText("No artifacts in Maze")).toBeTruthy();
    expect(screen.getByText(/run.log_artifact\("model.pt"/)).toBeTruthy();
  });
});
