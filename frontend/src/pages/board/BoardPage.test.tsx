import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import type { BoardPanel } from "@/api/types";
import { aProjectSummary } from "@/testing/projects";
import { renderPage } from "@/testing/render";
import { type Asked, refusal, serve } from "@/testing/server";
import BoardPage from "./BoardPage";
import { newPanel } from "./panels";

const CURVE = newPanel("curves?runs=1", { key: "curve", title: "The return", filter: null });
const FILTERED = newPanel("scatter?x=id", { key: "points", title: "Points", filter: "tag:none" });

function open(
  panels: BoardPanel[],
  save?: (asked: Asked) => unknown,
  env: { value: string; runs: number }[] = [],
) {
  let board = {
    project_id: 2,
    project: "Maze",
    panels,
    version: 3,
    updated_at: null as string | null,
    may_edit: true,
  };
  const server = serve({
    "GET /projects": [aProjectSummary("Maze")],
    "GET /projects/2/board": () => board,
    "GET /run-facets": { state: [], algorithm: [], env, tag: [], origin: [], project: [] },
    "GET /runs": { items: [], next_cursor: null, total: 0 },
    "GET /figures/curves": { data: [], layout: {}, cursor: "", complete: true, missing: [] },
    "GET /figures/scatter": { data: [], layout: {}, cursor: "", complete: true, missing: [] },
    "PUT /projects/2/board":
      save ??
      (({ body }: Asked) => {
        const sent = body as { panels: BoardPanel[]; version: number };
        board = { ...board, panels: sent.panels, version: sent.version + 1 };
        return board;
      }),
  });
  renderPage(<BoardPage />, { at: "/projects/Maze/board", path: "/projects/:name/board" });
  return server;
}

it("says what to do on an empty board, and can start with suggested charts", async () => {
  open([]);
  expect(await screen.findByText("This board has no charts yet")).toBeTruthy();
  await userEvent.click(screen.getByRole("button", { name: "Begin with suggested charts" }));
  await waitFor(() => expect(screen.getAllByText(/has no runs yet. Launch one/)).toHaveLength(4));
});

it("starts with a chart of returns for each environment, the most frequent one first", async () => {
  const server = open([], undefined, [
    { value: "ALE/Pong-v5", runs: 3 },
    { value: "CartPole-v1", runs: 9 },
  ]);
  await userEvent.click(await screen.findByRole("button", { name: "Begin with suggested charts" }));
  expect(await screen.findByRole("region", { name: "Return · Pong-v5" })).toBeTruthy();
  const [sent] = server
    .of("PUT /projects/2/board")
    .map(({ body }) => (body as { panels: BoardPanel[] }).panels);
  expect(sent?.map(({ filter }) => filter)).toEqual([
    'env = "CartPole-v1"',
    'env = "ALE/Pong-v5"',
    ...Array<string>(3).fill('env = "CartPole-v1"'),
  ]);
  expect(sent?.[2]?.title).toMatch(/ · CartPole-v1$/);
});

it("says why a filter shows nothing", async () => {
  open([FILTERED]);
  expect(await screen.findByText(/No run of Maze matches tag:none. Change the filter/)).toBeTruthy();
});

it("moves, copies, resizes and removes a chart, each based on the version before", async () => {
  const versions: number[] = [];
  let sent: BoardPanel[] = [];
  open([CURVE, FILTERED], ({ body }) => {
    const { panels, version } = body as { panels: BoardPanel[]; version: number };
    versions.push(version);
    sent = panels;
    return { project_id: 2, project: "Maze", panels, version: version + 1, updated_at: null, may_edit: true };
  });
  await userEvent.click(await screen.findByRole("button", { name: "Edit board" }));
  const act = async (chart: string, action: string) => {
    await userEvent.click(screen.getAllByRole("button", { name: `Actions for ${chart}` })[0] as HTMLElement);
    await userEvent.click(await screen.findByRole("menuitem", { name: action }));
  };
  await act("The return", "Move later");
  await waitFor(() => expect(sent.map(({ key }) => key)).toEqual(["points", "curve"]));
  const corner = screen.getByRole("button", { name: /^Resize The return/ });
  fireEvent.keyDown(corner, { key: "ArrowRight" });
  fireEvent.keyDown(corner, { key: "ArrowDown" });
  fireEvent.keyUp(corner, { key: "ArrowDown" });
  await waitFor(() => expect(sent[1]).toMatchObject({ columns: 7, height: 360 }));
  await act("Points", "Remove");
  await waitFor(() => expect(sent.map(({ key }) => key)).toEqual(["curve"]));
  await act("The return", "Duplicate");
  await waitFor(() => expect(sent).toHaveLength(2));
  expect(new Set(sent.map(({ key }) => key)).size).toBe(2);
  expect(versions).toEqual([3, 4, 5, 6]);
});

it("shows the current board if someone else has changed it", async () => {
  open([CURVE], () => refusal(409, "The board has changed: it is now at version 4."));
  await userEvent.click(await screen.findByRole("button", { name: "Edit board" }));
  await userEvent.click(screen.getByRole("button", { name: "Actions for The return" }));
  await userEvent.click(await screen.findByRole("menuitem", { name: "Remove" }));
  expect(await screen.findByRole("region", { name: "The return" })).toBeTruthy();
});

it("edits the title of a chart", async () => {
  open([CURVE]);
  await userEvent.click(await screen.findByRole("button", { name: "Edit board" }));
  await userEvent.click(screen.getByRole("button", { name: "Edit chart The return" }));
  const dialog = within(await screen.findByRole("dialog"));
  await userEvent.clear(dialog.getByRole("textbox", { name: "Title" }));
  await userEvent.type(dialog.getByRole("textbox", { name: "Title" }), "Speed");
  await userEvent.click(dialog.getByRole("button", { name: "Save chart" }));
  expect(await screen.findByRole("region", { name: "Speed" })).toBeTruthy();
});
