import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Report } from "@/api/types";
import { renderPage } from "@/testing/render";
import { aReport } from "@/testing/reports";
import { everythingIsSeen } from "@/testing/seen";
import { type Asked, refusal, serve } from "@/testing/server";
import { keep } from "./draft";
import ReportPage from "./ReportPage";

const open = (at: string) => renderPage(<ReportPage />, { at, path: "/reports/:id" });
const changed = ({ body }: Asked) => ({ ...aReport(), ...(body as Partial<Report>), version: 2 });

const THREE: Report["blocks"] = ["one", "two", "three"].map((markdown) => ({ kind: "text", markdown }));

/** A page with a list that its link leads to. */
const openAmongOthers = (at: string) => {
  const list = { path: "/reports", element: <h1>All of them</h1> };
  return renderPage(<ReportPage />, { at, path: "/reports/:id", routes: [list] });
};

/** A server that leaves each save waiting until it is told to answer. */
function serveSlowly() {
  let stored = aReport();
  const answers: (() => void)[] = [];
  const save = ({ body }: Asked) => {
    const { version, ...content } = body as Report;
    return new Promise<object>((resolve) =>
      answers.push(() => {
        stored = { ...stored, ...content, version: version + 1 };
        resolve(stored);
      }),
    );
  };
  return { server: serve({ "GET /reports/3": () => stored, "PATCH /reports/3": save }), answers };
}

async function undo(notice: string) {
  const words = await screen.findByText(notice);
  await userEvent.click(within(words.parentElement as HTMLElement).getByRole("button", { name: "Undo" }));
}

// The drawing library needs a canvas, which jsdom lacks.
vi.mock("plotly.js-cartesian-dist-min", () => ({ default: {} }));

beforeEach(() => localStorage.clear());

describe("a report", () => {
  it("is saved a moment after it is typed, with the version that it began with", async () => {
    const server = serve({ "GET /reports/3": aReport(), "PATCH /reports/3": changed });
    open("/reports/3?edit=1");
    await userEvent.type(await screen.findByLabelText("Title"), "!");
    await waitFor(() => expect(screen.getByText("Saved")).toBeTruthy());
    expect(server.of("PATCH /reports/3").at(-1)?.body).toMatchObject({ title: "Rates!", version: 1 });
    expect(localStorage.length).toBe(0);
  });

  it("keeps what was typed when the page is left before it was saved", async () => {
    serve({ "GET /reports/3": aReport(), "PATCH /reports/3": () => new Promise<object>(() => undefined) });
    const left = open("/reports/3?edit=1");
    await userEvent.type(await screen.findByLabelText("Title"), " again");
    left.unmount();
    open("/reports/3?edit=1");
    expect(await screen.findByDisplayValue("Rates again")).toBeTruthy();
  });

  it("is saved where reading begins right after the last key, and the next change goes on from there", async () => {
    const server = serve({ "GET /reports/3": aReport(), "PATCH /reports/3": changed });
    open("/reports/3?edit=1");
    await userEvent.type(await screen.findByLabelText("Title"), "!");
    await userEvent.click(screen.getByRole("button", { name: "Read" }));
    expect(await screen.findByRole("heading", { name: "Rates!" })).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Edit" }));
    await userEvent.type(await screen.findByLabelText("Title"), "?");
    await waitFor(() =>
      expect(server.of("PATCH /reports/3").at(-1)?.body).toMatchObject({ version: 2, title: "Rates!?" }),
    );
  });

  it("that is saved after it was left is kept by the browser no longer", async () => {
    serve({ "GET /reports/3": aReport(), "PATCH /reports/3": changed });
    open("/reports/3?edit=1");
    await userEvent.type(await screen.findByLabelText("Title"), "!");
    await userEvent.click(screen.getByRole("button", { name: "Read" }));
    await waitFor(() => expect(localStorage.length).toBe(0));
    expect(screen.getByRole("heading", { name: "Rates!" })).toBeTruthy();
  });

  it("is saved once more where more was typed while a save was on its way, and the page was left", async () => {
    const { server, answers } = serveSlowly();
    openAmongOthers("/reports/3?edit=1");
    await userEvent.type(await screen.findByLabelText("Title"), " one");
    await waitFor(() => expect(answers).toHaveLength(1));
    await userEvent.type(screen.getByLabelText("Title"), " two");
    await userEvent.click(screen.getByRole("link", { name: "All reports" }));
    await screen.findByRole("heading", { name: "All of them" });
    answers[0]?.();
    await waitFor(() => expect(answers).toHaveLength(2));
    expect(server.of("PATCH /reports/3")[1]?.body).toMatchObject({ title: "Rates one two", version: 2 });
    answers[1]?.();
    await waitFor(() => expect(localStorage.length).toBe(0));
  });

  it("is edited anew once the save of a page that was left has ended", async () => {
    const { server, answers } = serveSlowly();
    const { router } = openAmongOthers("/reports/3?edit=1");
    await userEvent.type(await screen.findByLabelText("Title"), " one");
    await userEvent.click(screen.getByRole("link", { name: "All reports" }));
    await waitFor(() => expect(answers).toHaveLength(1));
    await act(() => router.navigate("/reports/3?edit=1"));
    expect(await screen.findByText("Saving…")).toBeTruthy();
    expect(screen.queryByLabelText("Title")).toBeNull();
    answers[0]?.();
    await userEvent.type(await screen.findByDisplayValue("Rates one"), " two");
    await waitFor(() => expect(answers).toHaveLength(2));
    expect(server.of("PATCH /reports/3")[1]?.body).toMatchObject({ title: "Rates one two", version: 2 });
  });

  it("says while it is read that a save is on its way, and saves what was typed meanwhile", async () => {
    const { answers } = serveSlowly();
    open("/reports/3?edit=1");
    await userEvent.type(await screen.findByLabelText("Title"), " one");
    await waitFor(() => expect(answers).toHaveLength(1));
    await userEvent.type(screen.getByLabelText("Title"), " two");
    await userEvent.click(screen.getByRole("button", { name: "Read" }));
    expect(screen.getByText("Saving…")).toBeTruthy();
    answers[0]?.();
    await waitFor(() => expect(answers).toHaveLength(2));
    answers[1]?.();
    expect(await screen.findByRole("heading", { name: "Rates one two" })).toBeTruthy();
    await waitFor(() => expect(screen.queryByText("Saving…")).toBeNull());
    expect(localStorage.length).toBe(0);
  });

  it("saves an incomplete block as a draft, with the blocks around it, and opens it again for editing", async () => {
    let stored = aReport();
    const save = (asked: Asked) => (stored = { ...changed(asked), version: stored.version + 1 });
    const server = serve({ "GET /reports/3": () => stored, "PATCH /reports/3": save });
    const left = open("/reports/3?edit=1");
    await userEvent.click(await screen.findByRole("button", { name: "Add chart" }));
    await userEvent.click(screen.getByRole("button", { name: "Add text" }));
    await userEvent.type(
      within(screen.getByRole("region", { name: "Text, block 3" })).getByLabelText("Markdown"),
      "After",
    );
    await screen.findByText(/^Saved\. Block 2 lacks .* Readers do not see it yet\.$/);
    const { blocks } = server.of("PATCH /reports/3").at(-1)?.body as Report;
    expect(blocks.map(({ kind }) => kind)).toEqual(["text", "draft", "text"]);
    expect(blocks[2]).toEqual({ kind: "text", markdown: "After" });
    expect(localStorage.length).toBe(0);
    await userEvent.click(screen.getByRole("button", { name: "Read" }));
    await screen.findByText(/^Chart not finished: it lacks .* Readers do not see it\.$/);
    left.unmount();
    open("/reports/3?edit=1");
    expect(await screen.findByRole("region", { name: "Chart, block 2" })).toBeTruthy();
    expect(screen.getByDisplayValue("After")).toBeTruthy();
  });

  it("saves a block that the server refuses as a draft, and says beside it what is wrong", async () => {
    const wrong = { kind: "replay" as const, video: 5, caption: "x" };
    const refuseIt = (asked: Asked) =>
      (asked.body as Report).blocks[1]?.kind === "replay"
        ? refusal(422, "No.", [{ field: "blocks.1.replay.video", message: "no such replay" }])
        : changed(asked);
    const server = serve({
      "GET /reports/3": aReport({ blocks: [...aReport().blocks, wrong] }),
      "PATCH /reports/3": refuseIt,
      "POST /reports/preview": { problem: "There is no replay 5." },
      "GET /runs/1/replays": [],
    });
    open("/reports/3?edit=1");
    await userEvent.type(await screen.findByLabelText("Title"), "!");
    expect(await screen.findByText("no such replay")).toBeTruthy();
    await screen.findByText("Saved");
    expect(server.of("PATCH /reports/3").at(-1)?.body).toMatchObject({
      title: "Rates!",
      blocks: [aReport().blocks[0], { kind: "draft", content: JSON.stringify(wrong) }],
    });
  });

  it("saves its blocks while the title is empty, and keeps the title it had", async () => {
    const server = serve({ "GET /reports/3": aReport(), "PATCH /reports/3": changed });
    open("/reports/3?edit=1");
    await userEvent.clear(await screen.findByLabelText("Title"));
    await userEvent.type(screen.getByLabelText("Markdown"), "!");
    await screen.findByText("Saved except for this: The report lacks a title.");
    expect(server.of("PATCH /reports/3").at(-1)?.body).toMatchObject({
      title: "Rates",
      blocks: [{ kind: "text", markdown: "# Why\nBecause!" }],
    });
  });

  it("says while it is read that the server refused its last words", async () => {
    serve({ "GET /reports/3": aReport(), "PATCH /reports/3": refusal(409, "It was changed.") });
    open("/reports/3?edit=1");
    await userEvent.type(await screen.findByLabelText("Title"), "!");
    await userEvent.click(screen.getByRole("button", { name: "Read" }));
    expect((await screen.findByRole("alert")).textContent).toContain("Not saved: the report was changed");
    expect(screen.getByRole("heading", { name: "Rates" })).toBeTruthy();
  });

  it("says when it is opened for reading that the browser keeps words which were never saved", async () => {
    keep(3, { ...aReport(), title: "Rates of all" });
    serve({ "GET /reports/3": aReport() });
    open("/reports/3");
    expect((await screen.findByRole("alert")).textContent).toContain("What you typed last is not saved");
    await userEvent.click(screen.getByRole("button", { name: "Go on editing" }));
    expect(await screen.findByDisplayValue("Rates of all")).toBeTruthy();
  });

  it("says at once that it was changed since what the browser keeps was begun", async () => {
    keep(3, { ...aReport(), title: "Rates of all" });
    const server = serve({ "GET /reports/3": aReport({ version: 2 }) });
    open("/reports/3?edit=1");
    expect(await screen.findByText("This report was changed elsewhere meanwhile")).toBeTruthy();
    expect(screen.getByText("Not saved: the report was changed elsewhere")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Discard mine, show theirs" }));
    expect(await screen.findByDisplayValue("Rates")).toBeTruthy();
    expect(screen.getByText("Saved")).toBeTruthy();
    expect(localStorage.length).toBe(0);
    expect(server.of("PATCH /reports/3")).toHaveLength(0);
  });

  it("that was changed elsewhere is shown so where nothing has been typed", async () => {
    let stored = aReport();
    serve({ "GET /reports/3": () => stored });
    const { client } = open("/reports/3?edit=1");
    await screen.findByDisplayValue("Rates");
    stored = aReport({ title: "Their rates", version: 2 });
    await client.invalidateQueries();
    expect(await screen.findByDisplayValue("Their rates")).toBeTruthy();
    expect(screen.getByText("Saved")).toBeTruthy();
  });

  it("says that the server is away, and keeps what was typed", async () => {
    serve({ "GET /reports/3": aReport(), "PATCH /reports/3": () => Promise.reject(new TypeError("away")) });
    open("/reports/3?edit=1");
    await userEvent.type(await screen.findByLabelText("Title"), "!");
    expect(await screen.findByText(/the server does not answer/)).toBeTruthy();
    expect(localStorage.getItem("arcadia-report-3")).toContain("Rates!");
  });

  it("does not take a refusal for a server that is away", async () => {
    serve({ "GET /reports/3": aReport(), "PATCH /reports/3": refusal(422, "No such title.") });
    open("/reports/3?edit=1");
    const title = await screen.findByLabelText("Title");
    await userEvent.type(title, "!");
    expect(await screen.findByText("Not saved: No such title.")).toBeTruthy();
    await userEvent.type(title, "?");
    expect(screen.getByText("Saving…")).toBeTruthy();
  });

  it("that was changed elsewhere loses nothing: mine becomes a copy", async () => {
    const server = serve({
      "GET /reports/3": aReport(),
      "PATCH /reports/3": refusal(409, "The report has changed."),
      "POST /reports": aReport({ id: 4 }),
    });
    open("/reports/3?edit=1");
    await userEvent.type(await screen.findByLabelText("Title"), "!");
    const copy = await screen.findByRole("button", { name: "Save mine as a copy" });
    await userEvent.click(copy);
    await waitFor(() => expect(server.of("POST /reports")).toHaveLength(1));
    expect(server.of("POST /reports")[0]?.body).toEqual({ title: "Rates! (copy)", blocks: aReport().blocks });
  });

  it("gets blocks, moves them and says what one lacks", async () => {
    serve({ "GET /reports/3": aReport(), "PATCH /reports/3": changed });
    open("/reports/3?edit=1");
    await userEvent.click(await screen.findByRole("button", { name: "Add chart" }));
    await screen.findByText(/^Saved\. Block 2 lacks/);
    await userEvent.click(screen.getByRole("button", { name: "Move up: Chart, block 2" }));
    expect(screen.getByRole("region", { name: "Chart, block 1" })).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Delete: Chart, block 1" }));
    expect(screen.queryByRole("region", { name: /Chart/ })).toBeNull();
    expect(await screen.findByText("Saved")).toBeTruthy();
  });

  it("puts deleted blocks back at their places, with the focus in the editor all along", async () => {
    const server = serve({ "GET /reports/3": aReport({ blocks: THREE }), "PATCH /reports/3": changed });
    open("/reports/3?edit=1");
    const block = (number: number) => screen.getByRole("region", { name: `Text, block ${number}` });
    await userEvent.click(await screen.findByRole("button", { name: "Delete: Text, block 2" }));
    expect(document.activeElement).toBe(block(2));
    await userEvent.click(screen.getByRole("button", { name: "Delete: Text, block 1" }));
    await waitFor(() =>
      expect(server.of("PATCH /reports/3").at(-1)?.body).toMatchObject({ blocks: [THREE[2]] }),
    );
    await undo("Deleted: Text, block 2.");
    expect(document.activeElement).toBe(block(1));
    await userEvent.click(screen.getByRole("button", { name: "Read" }));
    await undo("Deleted: Text, block 1.");
    await waitFor(() => expect(server.of("PATCH /reports/3").at(-1)?.body).toMatchObject({ blocks: THREE }));
  });

  it("puts a deleted block back also where the report was changed elsewhere meanwhile", async () => {
    let stored = aReport({ blocks: THREE });
    const save = (asked: Asked) => (stored = { ...changed(asked), version: stored.version + 1 });
    serve({ "GET /reports/3": () => stored, "PATCH /reports/3": save });
    const { client } = open("/reports/3?edit=1");
    await userEvent.click(await screen.findByRole("button", { name: "Delete: Text, block 2" }));
    await screen.findByText("Saved");
    stored = { ...stored, title: "Their rates", version: 3 };
    await client.invalidateQueries();
    await screen.findByDisplayValue("Their rates");
    await undo("Deleted: Text, block 2.");
    expect(screen.getByRole("region", { name: "Text, block 3" }).textContent).toContain("two");
  });

  it("moves a block past one that was deleted", async () => {
    const server = serve({ "GET /reports/3": aReport({ blocks: THREE }), "PATCH /reports/3": changed });
    open("/reports/3?edit=1");
    await userEvent.click(await screen.findByRole("button", { name: "Delete: Text, block 2" }));
    await userEvent.click(screen.getByRole("button", { name: "Move down: Text, block 1" }));
    await waitFor(() =>
      expect(server.of("PATCH /reports/3").at(-1)?.body).toMatchObject({ blocks: [THREE[2], THREE[0]] }),
    );
  });

  it("has the focus at the buttons that add blocks where the last one is deleted", async () => {
    serve({ "GET /reports/3": aReport(), "PATCH /reports/3": changed });
    open("/reports/3?edit=1");
    await userEvent.click(await screen.findByRole("button", { name: "Delete: Text, block 1" }));
    expect(document.activeElement).toBe(screen.getByRole("group", { name: "Add a block" }));
  });

  it("shows its table, and a plain sentence for a replay that is gone", async () => {
    const answer = ({ body }: Asked) =>
      JSON.stringify(body).includes("replay")
        ? { problem: "There is no replay 7." }
        : { table: { header: ["Run", "Steps"], rows: [["Quick", 100]] }, missing: "Run 9 was deleted." };
    const blocks: Report["blocks"] = [
      { kind: "table", of: "runs", numbers: [1, 9], columns: ["name", "step"], caption: "Who" },
      { kind: "replay", video: 7, caption: "" },
    ];
    serve({ "GET /reports/3": aReport({ blocks }), "POST /reports/preview": answer });
    open("/reports/3");
    const table = within(await screen.findByRole("region", { name: "Who" }));
    expect(await table.findByRole("cell", { name: "Quick" })).toBeTruthy();
    expect(table.getByText("Run 9 was deleted.")).toBeTruthy();
    expect(await screen.findByText("This replay cannot be shown: There is no replay 7.")).toBeTruthy();
  });

  it("shows the settings of runs with all their digits, and what was measured as scores", async () => {
    const columns = ["name", "config.gamma", "config.learning_rate", "config.entropy_cost", "best_return"];
    const table = {
      header: ["Run", "Discount", "Learning rate", "Entropy", "Best return"],
      rows: [["Quick", 0.999, 0.0224, 6.25e-5, 20.333]],
    };
    serve({
      "GET /reports/3": aReport({
        blocks: [{ kind: "table", of: "runs", numbers: [1], columns, caption: "Who" }],
      }),
      "POST /reports/preview": { table },
    });
    open("/reports/3");
    await screen.findByRole("cell", { name: "Quick" });
    const cells = screen.getAllByRole("cell").map((cell) => cell.textContent);
    expect(cells).toEqual(["Quick", "0.999", "0.0224", "6.25e-5", "20.3"]);
  });

  it("names the runs that its chart left out", async () => {
    everythingIsSeen();
    const blocks: Report["blocks"] = [
      { kind: "chart", address: "/api/v1/figures/curves?runs=1,9", caption: "Curve" },
    ];
    const content = {
      figure: { data: [], layout: {}, cursor: "", complete: true },
      missing: "Run 9 was deleted.",
    };
    serve({ "GET /reports/3": aReport({ blocks }), "POST /reports/preview": content });
    open("/reports/3");
    const chart = within(await screen.findByRole("region", { name: "Curve" }));
    expect(await chart.findByText("Run 9 was deleted.")).toBeTruthy();
  });

  it("is shared by a link that can be revoked, which asks first", async () => {
    const shared = aReport({ share_token: "abc" });
    const server = serve({
      "GET /reports/3": aReport(),
      "POST /reports/3/share": shared,
      "DELETE /reports/3/share": aReport(),
    });
    open("/reports/3");
    await userEvent.click(await screen.findByRole("button", { name: "Share by a link" }));
    expect((await screen.findByLabelText<HTMLInputElement>("Link for reading")).value).toMatch(
      /\/shared\/reports\/abc$/,
    );
    await userEvent.click(screen.getByRole("button", { name: "Revoke" }));
    const question = within(await screen.findByRole("dialog", { name: "Revoke the link?" }));
    expect(server.of("DELETE /reports/3/share")).toHaveLength(0);
    await userEvent.click(question.getByRole("button", { name: "Revoke link" }));
    const share = await screen.findByRole("button", { name: "Share by a link" });
    await waitFor(() => expect(document.activeElement).toBe(share));
  });
});
