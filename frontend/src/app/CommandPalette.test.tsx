import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { aRun, runListOf } from "@/testing/runs";
import { type Asked, serve } from "@/testing/server";
import { CommandPalette } from "./CommandPalette";

function show() {
  const server = serve({
    "GET /runs": ({ query }: Asked) =>
      runListOf(query.get("text") === "pon" ? [aRun({ id: 7, name: "PAAC on Pong" })] : []),
    "GET /projects": [],
  });
  const page = renderPage(
    <>
      <input aria-label="Name" />
      <CommandPalette onShortcuts={() => undefined} onTour={() => undefined} />
    </>,
    {
      routes: [
        { path: "/runs/:id", element: <p>The run</p> },
        { path: "/studies", element: <p>The studies</p> },
        { path: "/examples", element: <p>The examples</p> },
      ],
    },
  );
  return { server, ...page };
}

it("opens with Ctrl-K, also while typing, and finds a run", async () => {
  const { server } = show();
  expect(server.asked).toEqual([]);
  await userEvent.click(screen.getByLabelText("Name"));
  await userEvent.keyboard("{Control>}k{/Control}");
  await userEvent.type(await screen.findByLabelText("Open a page, a run or a project"), "pon");
  await screen.findByText("PAAC on Pong");
  await userEvent.keyboard("{Enter}");
  expect(await screen.findByText("The run")).toBeTruthy();
});

it("finds the examples, also beside other runs", async () => {
  show();
  await userEvent.keyboard("{Control>}k{/Control}");
  await userEvent.type(await screen.findByLabelText("Open a page, a run or a project"), "exampl");
  await userEvent.click(await screen.findByText("Open examples"));
  expect(await screen.findByText("The examples")).toBeTruthy();
});

it("opens a page with Enter", async () => {
  show();
  await userEvent.keyboard("{Control>}k{/Control}");
  await userEvent.type(await screen.findByLabelText("Open a page, a run or a project"), "stud");
  await waitFor(() => expect(screen.queryByText("Compare")).toBeNull());
  await userEvent.keyboard("{Enter}");
  expect(await screen.findByText("The studies")).toBeTruthy();
});
