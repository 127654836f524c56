import { fireEvent, screen, within } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { MediaItem, MediaSeries } from "@/api/types";
import { renderPage } from "@/testing/render";
import { aReportedRun } from "@/testing/runs";
import { everythingIsSeen } from "@/testing/seen";
import { serve } from "@/testing/server";
import { MediaTab } from "./MediaTab";

function anItem(changes: Partial<MediaItem>): MediaItem {
  return {
    id: 1,
    name: "eval/screen",
    kind: "image",
    step: 100,
    time: "2026-01-01T10:00:00Z",
    attempt: 1,
    file_id: 7,
    media_type: "image/png",
    data: null,
    caption: null,
    ...changes,
  };
}

function open(items: MediaItem[]) {
  const names = new Map<string, MediaSeries>();
  for (const { name, kind } of items) names.set(name, { name, kind, count: 1, first_step: 0, last_step: 0 });
  everythingIsSeen();
  const server = serve({
    "GET /runs/1/media/names": [...names.values()],
    "GET /runs/1/media": ({ query }: { query: URLSearchParams }) => ({
      items: items.filter(({ name }) => name === query.get("name")),
      next_cursor: null,
    }),
  });
  renderPage(<MediaTab run={aReportedRun()} />);
  return server;
}

afterEach(() => vi.restoreAllMocks());

/** Match every media query for a minimum width. */
function onWideScreen() {
  const match = window.matchMedia.bind(window);
  vi.spyOn(window, "matchMedia").mockImplementation((query) => ({ ...match(query), matches: true }));
}

describe("the media of a run", () => {
  it("shows the newest image and, with the slider, earlier ones", async () => {
    open([
      anItem({ id: 1, step: 100, file_id: 7, caption: "first" }),
      anItem({ id: 2, step: 200, file_id: 8, caption: "second" }),
    ]);
    expect((await screen.findByAltText("second")).getAttribute("src")).toBe("/api/v1/files/8");
    expect(screen.getByRole("region", { name: "eval" })).toBeTruthy();
    fireEvent.keyDown(screen.getByRole("slider", { name: "Step of eval/screen" }), { key: "ArrowLeft" });
    expect((await screen.findByAltText("first")).getAttribute("src")).toBe("/api/v1/files/7");
    expect(screen.queryByAltText("second")).toBeNull();
  });

  it("plays videos, and shows moving pictures as images", async () => {
    open([
      anItem({ id: 1, name: "a", kind: "video", media_type: "video/mp4" }),
      anItem({ id: 2, name: "b", kind: "video", media_type: "image/gif" }),
    ]);
    expect((await screen.findByLabelText("a at 100 steps")).tagName).toBe("VIDEO");
    expect((await screen.findByAltText("b at 100 steps")).tagName).toBe("IMG");
  });

  it("describes a histogram in words, and all steps together", async () => {
    const data = { edges: [0, 1, 2], counts: [3, 1] };
    open([
      anItem({ id: 1, step: 100, name: "weights", kind: "histogram", data, file_id: null }),
      anItem({ id: 2, step: 200, name: "weights", kind: "histogram", data, file_id: null }),
    ]);
    const label = "weights at step 200: 4 values from 0 to 2, most often from 0 to 1.";
    expect(await screen.findByRole("img", { name: label })).toBeTruthy();
    expect(screen.getByRole("img", { name: /^weights from step 100 to 200/ })).toBeTruthy();
  });

  it("shows the first rows of a table, and all on request", async () => {
    const rows = Array.from({ length: 30 }, (_, row) => [`row ${row}`, row, true, null]);
    const data = { columns: ["name", "value", "good", "none"], rows };
    open([anItem({ name: "samples", kind: "table", data, file_id: null })]);
    const table = within(await screen.findByRole("group", { name: "Table samples" }));
    expect(table.getAllByRole("row")).toHaveLength(11);
    expect(table.getAllByText("yes")).toHaveLength(10);
    fireEvent.click(screen.getByRole("button", { name: "Show all 30 rows" }));
    expect(table.getAllByRole("row")).toHaveLength(31);
  });

  it("shows the kinds of a section one after the other, from left to right", async () => {
    onWideScreen();
    const media = (name: string, kind: MediaItem["kind"]) => anItem({ name, kind, data: null });
    open([
      media("a/table", "table"),
      media("a/video", "video"),
      media("a/x", "image"),
      media("a/y", "image"),
    ]);
    const section = await screen.findByRole("region", { name: "a" });
    const columns = [...section.querySelectorAll(":scope > div > div")].map((column) =>
      [...column.querySelectorAll("h3")].map((heading) => heading.textContent),
    );
    expect(columns).toEqual([["a/x", "a/table"], ["a/y"], ["a/video"]]);
  });

  it("aligns numbers with the title of their column", async () => {
    const data = {
      columns: ["name", "score"],
      rows: [
        ["a", 1],
        ["b", null],
      ],
    };
    open([anItem({ name: "samples", kind: "table", data, file_id: null })]);
    const align = (name: string) => screen.getByRole("columnheader", { name }).style.textAlign;
    await screen.findByRole("columnheader", { name: "score" });
    expect([align("name"), align("score")]).toEqual(["", "right"]);
  });

  it("says how a script adds media if there are none", async () => {
    open([]);
    expect(await screen.findByText("No media")).toBeTruthy();
  });
});
