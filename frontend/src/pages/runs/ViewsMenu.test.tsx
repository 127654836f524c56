import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import type { SavedView } from "@/api/types";
import { renderPage } from "@/testing/render";
import { openRuns } from "@/testing/runList";
import { aRun } from "@/testing/runs";
import { refusal, type Asked } from "@/testing/server";
import RunsPage from "./RunsPage";

const BEST: SavedView = {
  id: 3,
  name: "Best of Pong",
  project: "Main",
  query: "charts=&columns=name%2Cbest_return&env=Pong",
  created_at: "2026-01-01T00:00:00Z",
  updated_at: "2026-01-01T00:00:00Z",
  may_edit: true,
};

function open(at: string, more: Record<string, object> = {}) {
  const server = openRuns({ runs: [aRun()] }, { "GET /views": [BEST], ...more });
  return { server, ...renderPage(<RunsPage />, { at }) };
}

const choose = async (item: string) => {
  await userEvent.click(await screen.findByRole("button", { name: /^View/ }));
  await userEvent.click(await screen.findByRole("menuitem", { name: item }));
};

it("opens a view by the name in a link, and says that it was changed", async () => {
  const { router } = open("/?view=best of pong");
  await screen.findByRole("button", { name: "View: Best of Pong" });
  await waitFor(() => expect(router.state.location.search).toBe(`?${BEST.query}&view=3`));
  expect(screen.queryByText("Unsaved changes")).toBeNull();
  await userEvent.click(screen.getByRole("switch", { name: "Archived" }));
  await screen.findByText("Unsaved changes");
  await choose("Discard changes");
  await waitFor(() => expect(screen.queryByText("Unsaved changes")).toBeNull());
});

it("saves what the page shows under a name", async () => {
  const { server, router } = open("/?sort=name&charts=&columns=name", {
    "POST /views": ({ body }: Asked) => ({ ...BEST, ...(body as object), id: 4 }),
  });
  await choose("Save as…");
  const dialog = within(await screen.findByRole("dialog"));
  await userEvent.type(dialog.getByRole("textbox", { name: "Name" }), "By name{Enter}");
  await screen.findByText("Saved By name.");
  expect(server.of("POST /views").map(({ body }) => body)).toEqual([
    { name: "By name", query: "charts=&columns=name&sort=name" },
  ]);
  await waitFor(() => expect(router.state.location.search).toContain("view=4"));
});

it("says why a name is refused", async () => {
  open("/", { "POST /views": () => refusal(409, "The project already has a view 'Best of Pong'.") });
  await choose("Save as…");
  const dialog = within(await screen.findByRole("dialog"));
  await userEvent.type(dialog.getByRole("textbox", { name: "Name" }), "Best of Pong{Enter}");
  await dialog.findByText("The project already has a view 'Best of Pong'.");
});

it("updates, renames and deletes the opened view", async () => {
  const edited = ({ body }: Asked) => ({ ...BEST, ...(body as object) });
  const { server, router } = open("/?view=3&charts=&columns=name&env=Pong", {
    "PATCH /views/3": edited,
    "DELETE /views/3": {},
  });
  await screen.findByText("Unsaved changes");
  await choose("Update “Best of Pong”");
  await screen.findByText("Updated Best of Pong.");
  await choose("Rename…");
  const dialog = within(await screen.findByRole("dialog"));
  await userEvent.type(dialog.getByRole("textbox", { name: "Name" }), "!{Enter}");
  await screen.findByText("Saved Best of Pong!.");
  expect(server.of("PATCH /views/3").map(({ body }) => body)).toEqual([
    { query: "charts=&columns=name&env=Pong" },
    { name: "Best of Pong!" },
  ]);
  await choose("Delete…");
  await userEvent.click(await screen.findByRole("button", { name: "Delete view" }));
  await screen.findByText("Deleted Best of Pong.");
  expect(router.state.location.search).not.toContain("view=");
});

it("says that there is no such view", async () => {
  open("/?view=Worst");
  await screen.findByText("There is no view Worst here.");
});
