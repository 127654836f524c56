import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import type { Project } from "@/api/types";
import { aProject, aProjectSummary } from "@/testing/projects";
import { renderPage } from "@/testing/render";
import { aReportSummary } from "@/testing/reports";
import { type Answer, done, refusal, serve } from "@/testing/server";
import ProjectPage from "./ProjectPage";

const AGENT: Project["best_agents"][number] = {
  run_id: 12,
  run_name: "the fast one",
  env: "Catch",
  env_title: "Catch",
  method: "PAAC",
  best_return: 0.75,
  color: "#123456",
  poster_file_id: 5,
  checkpoint_id: 7,
  checkpoint_step: 2_000_000,
};

function open(project: Project, answers: Record<string, Answer> = {}) {
  const server = serve({
    "GET /projects": [aProjectSummary("Main"), aProjectSummary("Maze")],
    "GET /projects/2": project,
    "GET /reports": [],
    ...answers,
  });
  const page = renderPage(<ProjectPage />, {
    at: "/projects/maze",
    path: "/projects/:name",
    routes: [{ path: "/projects", element: <p>All of them</p> }],
  });
  return { ...page, server };
}

it("shows the counts with links, the text and the best agents with their pictures", async () => {
  open(
    aProject("Maze", {
      runs: 3,
      active_runs: 1,
      archived_runs: 2,
      text: "About **mazes**.",
      best_agents: [AGENT],
    }),
  );
  expect(await screen.findByRole("heading", { name: "Maze" })).toBeTruthy();
  const runs = screen.getByRole("link", { name: "3 runs · 1 training, 2 archived" });
  expect(runs.getAttribute("href")).toBe("/?project=Maze");
  expect(screen.getByText("mazes").tagName).toBe("STRONG");
  const agents = within(screen.getByRole("region", { name: "Best agents" }));
  expect(agents.getByText("0.75")).toBeTruthy();
  expect(agents.getByAltText("Latest frame of Catch").getAttribute("src")).toBe("/api/v1/files/5");
  expect(agents.getByRole("link", { name: "Watch" }).getAttribute("href")).toBe("/runs/12/live");
});

it("says what to do first in an empty project", async () => {
  open(aProject("Maze"));
  expect(await screen.findByText("This project is empty")).toBeTruthy();
  expect(screen.getByRole("link", { name: "Launch run" }).getAttribute("href")).toBe("/launch?project=Maze");
  expect(screen.getByText('arcadia.init(project="Maze")')).toBeTruthy();
});

it("edits the text", async () => {
  const { server } = open(aProject("Maze"), {
    "PATCH /projects/2": ({ body }) => aProject("Maze", body as Partial<Project>),
  });
  await userEvent.click(await screen.findByRole("button", { name: "Add text" }));
  await userEvent.type(screen.getByRole("textbox", { name: "Text" }), "Plan");
  await userEvent.click(screen.getByRole("button", { name: "Save text" }));
  expect(await screen.findByText("Plan")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Edit text" })).toBeTruthy();
  expect(server.of("PATCH /projects/2").map(({ body }) => body)).toEqual([{ text: "Plan" }]);
});

it("pins a report of the project", async () => {
  const pinned = { id: 3, title: "Rates" };
  const { server } = open(aProject("Maze", { reports: 1 }), {
    "GET /reports": [aReportSummary({ project: "Maze" })],
    "PATCH /projects/2": aProject("Maze", { reports: 1, pinned_report: pinned }),
  });
  await userEvent.click(await screen.findByRole("combobox", { name: "Report" }));
  await userEvent.click(await screen.findByRole("option", { name: "Rates" }));
  const link = await screen.findByRole("link", { name: "Rates" });
  expect(link.getAttribute("href")).toBe("/reports/3");
  expect(server.of("GET /reports")[0]?.query.getAll("project")).toEqual(["Maze"]);
  expect(server.of("PATCH /projects/2").map(({ body }) => body)).toEqual([{ pinned_report_id: 3 }]);
});

it("shows why a name is refused, and keeps the dialog open", async () => {
  open(aProject("Maze", { runs: 1 }), {
    "PATCH /projects/2": () => refusal(409, "There is already a project 'Main'."),
  });
  await userEvent.click(await screen.findByRole("button", { name: "Actions for Maze" }));
  await userEvent.click(await screen.findByRole("menuitem", { name: /^Rename/ }));
  const field = await screen.findByRole("textbox", { name: "Name" });
  await userEvent.clear(field);
  await userEvent.type(field, "Main{Enter}");
  expect(await screen.findByText("There is already a project 'Main'.")).toBeTruthy();
});

it("deletes an empty project and opens the list, but offers no deletion of others", async () => {
  const { server, router, unmount } = open(aProject("Maze"), { "DELETE /projects/2": done });
  await userEvent.click(await screen.findByRole("button", { name: "Actions for Maze" }));
  await userEvent.click(await screen.findByRole("menuitem", { name: /^Delete/ }));
  await userEvent.click(await screen.findByRole("button", { name: "Delete project" }));
  await waitFor(() => expect(router.state.location.pathname).toBe("/projects"));
  expect(server.of("DELETE /projects/2")).toHaveLength(1);
  unmount();
  open(aProject("Maze", { runs: 1 }));
  await userEvent.click(await screen.findByRole("button", { name: "Actions for Maze" }));
  const item = await screen.findByRole("menuitem", { name: /^Delete/ });
  expect(item.textContent).toBe("Delete…It is not empty.");
  expect(item.getAttribute("aria-disabled")).toBe("true");
});

it("says that a project does not exist", async () => {
  serve({ "GET /projects": [aProjectSummary("Main")] });
  renderPage(<ProjectPage />, { at: "/projects/gone", path: "/projects/:name" });
  expect(await screen.findByRole("heading", { name: "There is no project “gone”" })).toBeTruthy();
});
