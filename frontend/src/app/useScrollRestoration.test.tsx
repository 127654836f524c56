import { act, render, screen } from "@testing-library/react";
import { createMemoryRouter, Outlet, RouterProvider } from "react-router";
import { beforeEach, expect, it, vi } from "vitest";
import { useScrollRestoration } from "./useScrollRestoration";

/** Maximum scroll position of the page. */
let length = 0;
let grow: (to: number) => void = () => undefined;

beforeEach(() => {
  length = 3000;
  vi.stubGlobal("scrollY", 0);
  vi.stubGlobal("scrollTo", (_x: number, y: number) => scrolled(Math.min(y, length)));
  vi.stubGlobal(
    "ResizeObserver",
    class {
      constructor(changed: () => void) {
        grow = (to) => act(() => ((length = to), changed()));
      }
      observe() {}
      disconnect() {
        grow = (to) => (length = to);
      }
    },
  );
});

function scrolled(to: number) {
  vi.stubGlobal("scrollY", to);
  window.dispatchEvent(new Event("scroll"));
}

function Frame() {
  useScrollRestoration();
  return <Outlet />;
}

async function open() {
  const pages = [
    { path: "/", element: <h1>Runs</h1> },
    { path: "/runs/:id/:tab?", element: <h1>Run</h1> },
  ];
  const router = createMemoryRouter([{ element: <Frame />, children: pages }]);
  render(<RouterProvider router={router} />);
  await screen.findByText("Runs");
  return {
    to: (address: string, how = {}) => act(() => router.navigate(address, how)),
    by: (pages: number) => act(() => router.navigate(pages)),
  };
}

it("opens a new page at the top and restores the position when the user goes back", async () => {
  const go = await open();
  scrolled(2000);
  await go.to("/runs/1");
  expect(window.scrollY).toBe(0);
  scrolled(400);
  await go.by(-1);
  expect(window.scrollY).toBe(2000);
  await go.by(1);
  expect(window.scrollY).toBe(400);
});

it("keeps the position when a tab or a filter changes", async () => {
  const go = await open();
  scrolled(500);
  await go.to("/?state=running");
  await go.to("/runs/1", { replace: true });
  expect(window.scrollY).toBe(500);
});

it("waits until the page is long enough, unless the user scrolls", async () => {
  const go = await open();
  scrolled(2000);
  await go.to("/runs/1");
  length = 100;
  await go.by(-1);
  expect(window.scrollY).toBe(100);
  grow(3000);
  expect(window.scrollY).toBe(2000);
  await go.to("/runs/2");
  length = 100;
  await go.by(-1);
  act(() => window.dispatchEvent(new Event("wheel")));
  scrolled(50);
  grow(3000);
  expect(window.scrollY).toBe(50);
});
