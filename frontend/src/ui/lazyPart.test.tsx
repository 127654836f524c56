import { screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { renderPage } from "@/testing/render";
import { lazyPart } from "./lazyPart";

const Dialog = ({ opened }: { opened: boolean }) => <p>{opened ? "open" : "closed"}</p>;

it("loads a dialog when it is first opened, and once", async () => {
  const load = vi.fn(() => Promise.resolve(Dialog));
  const Lazy = lazyPart(load);
  const { rerender } = renderPage(<Lazy opened={false} />);
  expect(load).not.toHaveBeenCalled();
  rerender(<Lazy opened />);
  await screen.findByText("open");
  rerender(<Lazy opened={false} />);
  expect(screen.getByText("closed")).toBeTruthy();
  expect(load).toHaveBeenCalledTimes(1);
});

it("shows its fallback until the code is loaded", async () => {
  const Lazy = lazyPart(
    () => Promise.resolve(() => <p>the part</p>),
    () => <p>Loading…</p>,
  );
  renderPage(<Lazy />);
  expect(screen.getByText("Loading…")).toBeTruthy();
  await screen.findByText("the part");
  expect(screen.queryByText("Loading…")).toBeNull();
});

it("reports code that cannot be loaded, and keeps the page", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true, advanceTimeDelta: 1000 });
  const Lazy = lazyPart(() => Promise.reject(new Error("The server is unreachable.")));
  renderPage(
    <>
      <p>the page</p>
      <Lazy />
    </>,
  );
  await screen.findByText("The server is unreachable.");
  expect(screen.getByText("the page")).toBeTruthy();
  vi.useRealTimers();
});
