import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { aProject, aProjectSummary } from "@/testing/projects";
import { renderPage } from "@/testing/render";
import { type Answer, refusal, serve } from "@/testing/server";
import { MoveModal } from "./MoveModal";

const MOVED = { runs: [7, 8], studies: [], reports: [] };

function open(answers: Record<string, Answer> = {}, runs = [7, 8]) {
  const server = serve({
    "GET /projects": [aProjectSummary("Main"), aProjectSummary("Maze")],
    "POST /projects/2/items": MOVED,
    ...answers,
  });
  const onMoved = vi.fn();
  renderPage(
    <MoveModal
      opened
      items={{ runs }}
      subject="2 runs"
      from="Main"
      onClose={() => undefined}
      onMoved={onMoved}
    />,
  );
  return { server, onMoved };
}

it("moves runs to another project", async () => {
  const { server, onMoved } = open();
  await userEvent.click(await screen.findByRole("combobox", { name: "Project" }));
  const options = await screen.findAllByRole("option");
  expect(options.map(({ textContent }) => textContent)).toEqual(["Maze"]);
  await userEvent.click(options[0] as HTMLElement);
  await userEvent.click(screen.getByRole("button", { name: "Move" }));
  expect(await screen.findByText("Moved 2 runs to Maze.")).toBeTruthy();
  expect(server.of("POST /projects/2/items").map(({ body }) => body)).toEqual([{ runs: [7, 8] }]);
  expect(onMoved).toHaveBeenCalledOnce();
});

it("moves many runs in several requests", async () => {
  const many = Array.from({ length: 1001 }, (_, index) => index + 1);
  const answer = ({ body }: { body: unknown }) => ({ ...MOVED, ...(body as object) });
  const { server } = open({ "POST /projects/2/items": answer }, many);
  await userEvent.type(await screen.findByRole("textbox", { name: "Or a new project" }), "Maze");
  await userEvent.click(screen.getByRole("button", { name: "Move" }));
  expect(await screen.findByText(/Moved 1\s001 runs to Maze\./)).toBeTruthy();
  const sent = server
    .of("POST /projects/2/items")
    .map(({ body }) => (body as { runs: number[] }).runs.length);
  expect(sent).toEqual([1000, 1]);
});

it("moves runs to a new project", async () => {
  const { server } = open({ "POST /projects": () => Response.json(aProject("Lake"), { status: 201 }) });
  await userEvent.type(await screen.findByRole("textbox", { name: "Or a new project" }), "Lake");
  await userEvent.click(screen.getByRole("button", { name: "Move" }));
  expect(await screen.findByText("Moved 2 runs to Lake.")).toBeTruthy();
  expect(server.of("POST /projects").map(({ body }) => body)).toEqual([{ name: "Lake" }]);
});

it("uses an existing project whose name was typed", async () => {
  const { server } = open();
  await userEvent.type(await screen.findByRole("textbox", { name: "Or a new project" }), "mAZE");
  await waitFor(() => expect(server.of("GET /projects")).toHaveLength(1));
  await userEvent.click(screen.getByRole("button", { name: "Move" }));
  expect(await screen.findByText("Moved 2 runs to Maze.")).toBeTruthy();
  expect(server.of("POST /projects")).toEqual([]);
});

it("shows why nothing was moved", async () => {
  const { onMoved } = open({ "POST /projects/2/items": () => refusal(404, "There is no project 2.") });
  await userEvent.type(await screen.findByRole("textbox", { name: "Or a new project" }), "Maze");
  await userEvent.click(screen.getByRole("button", { name: "Move" }));
  expect((await screen.findByRole("alert")).textContent).toBe("There is no project 2.");
  expect(onMoved).not.toHaveBeenCalled();
});
