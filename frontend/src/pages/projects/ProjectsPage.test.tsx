import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { aProject, aProjectSummary } from "@/testing/projects";
import { renderPage } from "@/testing/render";
import { serve } from "@/testing/server";
import ProjectsPage from "./ProjectsPage";

const PROJECTS = [
  aProjectSummary("Main", { runs: 2 }),
  aProjectSummary("Maze & more", { runs: 12, active_runs: 1, studies: 3, reports: 1 }),
];

it("lists the projects with links to what they have", async () => {
  serve({ "GET /projects": PROJECTS });
  renderPage(<ProjectsPage />, { at: "/projects", path: "/projects" });
  const row = within((await screen.findByText("Maze & more")).closest("tr") ?? document.body);
  expect(row.getByRole("link", { name: "Maze & more" }).getAttribute("href")).toBe(
    "/projects/Maze%20%26%20more",
  );
  expect(row.getByRole("link", { name: "Studies of Maze & more: 3" }).getAttribute("href")).toBe(
    "/studies?project=Maze+%26+more",
  );
});

it("creates a project and opens it", async () => {
  const server = serve({
    "GET /projects": PROJECTS,
    "POST /projects": () => Response.json(aProject("Lake"), { status: 201 }),
  });
  const { router } = renderPage(<ProjectsPage />, {
    at: "/projects",
    path: "/projects",
    routes: [{ path: "/projects/:name", element: <p>The project</p> }],
  });
  await userEvent.click(await screen.findByRole("button", { name: "New project" }));
  await userEvent.type(await screen.findByRole("textbox", { name: "Name" }), " Lake {Enter}");
  await waitFor(() => expect(router.state.location.pathname).toBe("/projects/Lake"));
  expect(server.of("POST /projects").map(({ body }) => body)).toEqual([{ name: "Lake" }]);
});

it("merges a project into another one", async () => {
  const server = serve({ "GET /projects": PROJECTS, "POST /projects/2/merge": aProject("Main") });
  localStorage.setItem("arcadia-project", JSON.stringify("Maze & more"));
  renderPage(<ProjectsPage />, { at: "/projects", path: "/projects" });
  await userEvent.click(await screen.findByRole("button", { name: "Actions for Maze & more" }));
  await userEvent.click(await screen.findByRole("menuitem", { name: /^Merge/ }));
  const dialog = await screen.findByRole("dialog");
  expect(dialog.textContent).toContain("This moves 12 runs, 3 studies, 1 report to the other project");
  await userEvent.click(within(dialog).getByRole("combobox", { name: "Into" }));
  const options = await screen.findAllByRole("option");
  expect(options.map(({ textContent }) => textContent)).toEqual(["Main"]);
  await userEvent.click(options[0] as HTMLElement);
  await userEvent.click(within(dialog).getByRole("button", { name: "Merge" }));
  expect(await screen.findByText("Merged Maze & more into Main.")).toBeTruthy();
  expect(server.of("POST /projects/2/merge").map(({ body }) => body)).toEqual([{ into: "Main" }]);
  expect(localStorage.getItem("arcadia-project")).toBe('"Main"');
});

it("keeps Main as it is", async () => {
  serve({ "GET /projects": PROJECTS });
  renderPage(<ProjectsPage />, { at: "/projects", path: "/projects" });
  await userEvent.click(await screen.findByRole("button", { name: "Actions for Main" }));
  const items = await screen.findAllByRole("menuitem");
  expect(items.map((item) => item.getAttribute("aria-disabled") === "true")).toEqual([true, true, true]);
});
