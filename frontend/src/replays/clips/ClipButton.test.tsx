import { act, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it, vi } from "vitest";
import { aReplay } from "@/testing/files";
import { renderPage } from "@/testing/render";
import type { PlayableReplay } from "../places";
import { ClipButton } from "./ClipButton";

const makings: { signal: AbortSignal; finish: (clip: Blob) => void }[] = [];
vi.mock("./clip", async (original) => ({
  ...(await original<object>()),
  clipOf: (_: string, { signal }: { signal: AbortSignal }) =>
    new Promise<Blob>((finish) => makings.push({ signal, finish })),
}));

beforeEach(() => void (makings.length = 0));

async function make() {
  const saved = vi.spyOn(HTMLAnchorElement.prototype, "click").mockReturnValue();
  const page = renderPage(
    <>
      <ClipButton replay={aReplay(7, 100, { seconds: 10 }) as PlayableReplay} rate={60} now={() => 1} />
      <p>Beside it</p>
    </>,
  );
  await userEvent.click(screen.getByRole("button", { name: "Clip" }));
  await userEvent.click(await screen.findByRole("button", { name: "Download GIF" }));
  return { ...page, saved };
}

it("keeps making a clip while the popover is closed, and starts no second one", async () => {
  await make();
  await userEvent.click(screen.getByText("Beside it"));
  await waitFor(() => expect(screen.queryByText(/A GIF for slides/)).toBeNull());
  await userEvent.click(screen.getByRole("button", { name: "Clip" }));
  await userEvent.click(await screen.findByRole("button", { name: "Stop" }));
  expect(makings.map(({ signal }) => signal.aborted)).toEqual([true]);
});

it("stops making the clip when the page is left", async () => {
  const { unmount, saved } = await make();
  unmount();
  expect(makings.map(({ signal }) => signal.aborted)).toEqual([true]);
  await act(async () => makings[0]?.finish(new Blob(["gif"])));
  expect(saved).not.toHaveBeenCalled();
});
