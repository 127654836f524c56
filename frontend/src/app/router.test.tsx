import { fireEvent, screen, waitFor } from "@testing-library/react";
import { createMemoryRouter, matchRoutes, type RouteObject } from "react-router";
import { expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import NotFoundPage from "./NotFoundPage";
import { preloadLinkedPages, routes } from "./router";

/** The routes without the code of their pages. */
function withoutPages(all: RouteObject[]): RouteObject[] {
  return all.map(({ path, index, loader, children }): RouteObject => {
    const route = { ...(path !== undefined && { path }), ...(loader && { loader }), Component: () => null };
    return index ? { ...route, index } : { ...route, ...(children && { children: withoutPages(children) }) };
  });
}

async function openAddress(address: string): Promise<string> {
  const router = createMemoryRouter(withoutPages(routes), { initialEntries: [address] });
  router.initialize();
  await waitFor(() => expect(router.state.initialized && router.state.navigation.state).toBe("idle"));
  const { pathname, search } = router.state.location;
  return pathname + search;
}

it.each([
  ["/runs", "/"],
  ["/runs/", "/"],
  ["/runs?state=failed&by=env", "/?state=failed&by=env"],
  ["/run/7", "/runs/7"],
  ["/run/7/log", "/runs/7/log"],
  ["/run", "/"],
  ["/study/3?tab=points", "/studies/3?tab=points"],
  ["/project/Main/board", "/projects/Main/board"],
  ["/games/pong", "/games/pong"],
  ["/runs/7/replays/1", "/runs/7/replays/1"],
])("opens the page that %s means", async (typed, opened) => {
  expect(await openAddress(typed)).toBe(opened);
});

it("has an element or a page in every route without children", () => {
  const leaves = (all: RouteObject[]): RouteObject[] =>
    all.flatMap((route) => (route.children ? leaves(route.children) : [route]));
  const empty = leaves(routes).filter(
    ({ element, Component, lazy }) => element === undefined && Component === undefined && lazy === undefined,
  );
  expect(empty.map(({ path }) => path)).toEqual([]);
});

it.each(["/nothing", "/runs/7/a/b/c", "/replays", "/checkpoints/12"])("has no page at %s", (address) => {
  expect(matchRoutes(routes, address)?.at(-1)?.route.path).toBe("*");
});

it("says where replays and checkpoints are, and links to every page", async () => {
  const { router } = renderPage(<NotFoundPage />, { at: "/replays", path: "*" });
  expect(screen.getByText("Replays are in the tab “Replays” of their run.")).toBeTruthy();
  expect(screen.getByRole("link", { name: "Games" }).getAttribute("href")).toBe("/games");
  await router.navigate("/checkpoint/7");
  expect(await screen.findByText(/^Checkpoints are in the tab/)).toBeTruthy();
});

it("loads the code of a page when the pointer or the focus is on a link to it", () => {
  const load = vi.fn(() => Promise.resolve({ default: () => null }));
  const lazy = Object.assign(() => Promise.resolve({ Component: () => null }), { load });
  preloadLinkedPages([{ path: "games", lazy }]);
  renderPage(
    <>
      <a href="/games">
        <b>Games</b>
      </a>
      <a href="https://example.org/games">Elsewhere</a>
    </>,
  );
  fireEvent.pointerOver(screen.getByText("Elsewhere"));
  expect(load).not.toHaveBeenCalled();
  fireEvent.pointerOver(screen.getByText("Games"));
  screen.getByText("Games").closest("a")?.focus();
  expect(load).toHaveBeenCalledTimes(2);
});
