import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Link } from "react-router";
import { expect, it } from "vitest";
import { aProjectSummary } from "@/testing/projects";
import { renderPage } from "@/testing/render";
import { serve } from "@/testing/server";
import { useCurrentProject } from "@/ui/currentProject";
import { ProjectSwitcher, UnknownProject } from "./ProjectSwitcher";

function Page() {
  return (
    <>
      <ProjectSwitcher />
      <UnknownProject />
      <p>Shown: {useCurrentProject() ?? "everything"}</p>
      <Link to="/studies">Studies</Link>
      <Link to="/workers">Workers</Link>
    </>
  );
}

const PATHS = ["/studies", "/workers", "/projects/:name", "/projects"];

function open(at: string, remembered?: string) {
  if (remembered !== undefined) localStorage.setItem("arcadia-project", JSON.stringify(remembered));
  serve({ "GET /projects": [aProjectSummary("Main", { runs: 2 }), aProjectSummary("My maze", { runs: 1 })] });
  return renderPage(<Page />, { at, routes: PATHS.map((path) => ({ path, element: <Page /> })) });
}

const addressOf = ({ router }: ReturnType<typeof open>) =>
  router.state.location.pathname + router.state.location.search;
const addressIs = (page: ReturnType<typeof open>, address: string) =>
  waitFor(() => expect(addressOf(page)).toBe(address));

async function choose(option: RegExp) {
  await userEvent.click(screen.getByRole("combobox", { name: /^Project: / }));
  await userEvent.click(await screen.findByRole("option", { name: option, hidden: true }));
}

it("shows all projects and does not change the URL until one is chosen", async () => {
  const page = open("/?state=running");
  expect(screen.getByText("Shown: everything")).toBeTruthy();
  await choose(/^My maze 1 run/);
  await addressIs(page, "/?state=running&project=My+maze");
  expect(screen.getByText("Shown: My maze")).toBeTruthy();
  await userEvent.click(screen.getByRole("link", { name: "Studies" }));
  await addressIs(page, "/studies?project=My+maze");
  await choose(/^All projects 3 runs/);
  await addressIs(page, "/studies?project=");
  expect(screen.getByText("Shown: everything")).toBeTruthy();
});

it("opens the project that the browser remembers, and writes it into the URL", async () => {
  const page = open("/", "My maze");
  expect(screen.getByText("Shown: My maze")).toBeTruthy();
  await addressIs(page, "/?project=My+maze");
});

it("opens the project of a link instead of the remembered one", async () => {
  open("/?project=Main", "My maze");
  expect(screen.getByText("Shown: Main")).toBeTruthy();
  await waitFor(() => expect(localStorage.getItem("arcadia-project")).toBe('"Main"'));
});

it("opens the runs of a project from a page that shows no project", async () => {
  const page = open("/workers", "Main");
  await choose(/^My maze/);
  await addressIs(page, "/?project=My+maze");
});

it("opens the page of another project from a project's page", async () => {
  const page = open("/projects/My%20maze");
  expect(screen.getByRole("combobox", { name: "Project: My maze" })).toBeTruthy();
  await choose(/^Main/);
  await addressIs(page, "/projects/Main");
});

it("reports a project that does not exist, and shows all projects instead", async () => {
  const page = open("/?project=gone");
  expect(await screen.findByText("There is no project “gone”")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Show all projects" }));
  await addressIs(page, "/?project=");
  expect(screen.queryByText("There is no project “gone”")).toBeNull();
});
