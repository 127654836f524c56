import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { Alias, AliasEntry } from "@/api/aliases";
import { renderPage } from "@/testing/render";
import { done, serve } from "@/testing/server";
import AliasesPage from "./AliasesPage";

const anEntry = (changes: Partial<AliasEntry> = {}): AliasEntry => ({
  name: "pong/champion",
  run_id: 3,
  run_name: "My run",
  checkpoint_id: 7,
  step: 3000,
  who: "ana",
  why: "It won.",
  changed_at: "2026-01-01T10:30:00Z",
  ...changes,
});
const anAlias = (changes: Partial<Alias> = {}): Alias => ({
  ...anEntry(),
  available: true,
  may_edit: true,
  ...changes,
});

describe("the aliases", () => {
  it("lists aliases with their runs, and removes one", async () => {
    const server = serve({ "GET /aliases": [anAlias()], "DELETE /aliases": done() });
    renderPage(<AliasesPage />, { at: "/aliases", path: "/aliases" });
    expect((await screen.findByRole("link", { name: "My run" })).getAttribute("href")).toBe(
      "/runs/3/checkpoints",
    );
    await userEvent.click(screen.getByRole("button", { name: "Remove pong/champion" }));
    await waitFor(() => expect(server.of("DELETE /aliases")).toHaveLength(1));
    expect(await screen.findByText("pong/champion was removed.")).toBeTruthy();
  });

  it("shows the history of the alias in the URL", async () => {
    serve({
      "GET /aliases": [],
      "GET /aliases/history": [
        anEntry({ checkpoint_id: null, why: "Old.", changed_at: "2026-01-02T10:30:00Z" }),
        anEntry(),
      ],
    });
    renderPage(<AliasesPage />, { at: "/aliases?name=pong/champion", path: "/aliases" });
    const history = within(await screen.findByRole("region", { name: "History of pong/champion" }));
    expect(await history.findByText("removed")).toBeTruthy();
    expect(history.getByText("It won.")).toBeTruthy();
    expect(screen.getByText("No aliases yet")).toBeTruthy();
  });
});
