import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
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

/** A page with a link to the report list. */
const openAmongOthers = (at: string) => {
  const list = { path: "/reports", element: <h1>All of them</h1> };
  return renderPage(<ReportPage />, { at, path: "/reports/:id", routes: [list] });
};

/** Serve a report whose saves wait until the test answers them. */
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

beforeEach(() => localStorage.clear());

describe("an address of a report", () => {
  it("creates a report and opens its editor if it ends in new", async () => {
    const server = serve({
      "POST /reports": aReport(),
      "GET /reports/3": aReport(),
      "GET /projects": [],
    });
    const { router } = open("/reports/new");
    expect(await screen.findByLabelText("Title")).toBeTruthy();
    expect(router.state.location.pathname + router.state.location.search).toBe("/reports/3?edit=1");
    expect(server.of("POST /reports")).toHaveLength(1);
  });

  it("is not the number of a report if it is a word", async () => {
    serve({});
    open("/reports/rates");
    expect(await screen.findByRole("heading", { name: "Report not found" })).toBeTruthy();
    expect(screen.queryByText(/NaN/)).toBeNull();
  });
});

describe("a report", () => {
  it("has a heading of the first level while it is edited", async () => {
    serve({ "GET /reports/3": aReport() });
    open("/reports/3?edit=1");
    expect(await screen.findByRole("heading", { level: 1, name: "Edit Rates" })).toBeTruthy();
  });

  it("is saved shortly after typing, with its version", async () => {
    const server = serve({ "GET /reports/3": aReport(), "PATCH /reports/3": changed });
    open("/reports/3?edit=1");
    await userEvent.type(await screen.findByLabelText("Title"), "!");
    await waitFor(() => expect(screen.getByText("Saved")).toBeTruthy());
    expect(server.of("PATCH /reports/3").at(-1)?.body).toMatchObject({ title: "Rates!", version: 1 });
    expect(localStorage.length).toBe(0);
  });

  it("keeps unsaved text when the page is left", async () => {
    serve({ "GET /reports/3": aReport(), "PATCH /reports/3": () => new Promise<object>(() => undefined) });
    const left = open("/reports/3?edit=1");
    await userEvent.type(await screen.findByLabelText("Title"), " again");
    left.unmount();
    open("/reports/3?edit=1");
    expect(await screen.findByDisplayValue("Rates again")).toBeTruthy();
  });

  it("is saved when editing ends, and can be changed again", async () => {
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

  it("removes the stored draft when a save finishes after leaving", async () => {
    serve({ "GET /reports/3": aReport(), "PATCH /reports/3": changed });
    open("/reports/3?edit=1");
    await userEvent.type(await screen.findByLabelText("Title"), "!");
    await userEvent.click(screen.getByRole("button", { name: "Read" }));
    await waitFor(() => expect(localStorage.length).toBe(0));
    expect(screen.getByRole("heading", { name: "Rates!" })).toBeTruthy();
  });

  it("is saved again if text was typed during a save and the page was left", async () => {
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

  it("can be edited after the save of the left page has finished", async () => {
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

  it("shows a pending save while reading, and saves later text", async () => {
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

  it("saves an incomplete block as a draft and opens it again", async () => {
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
    await screen.findByText(/^Saved\. Block 2 needs .* Readers do not see it yet\.$/);
    const { blocks } = server.of("PATCH /reports/3").at(-1)?.body as Report;
    expect(blocks.map(({ kind }) => kind)).toEqual(["text", "draft", "text"]);
    expect(blocks[2]).toEqual({ kind: "text", markdown: "After" });
    expect(localStorage.length).toBe(0);
    await userEvent.click(screen.getByRole("button", { name: "Read" }));
    await screen.findByText(/^Chart not finished: it needs .* Readers do not see it\.$/);
    left.unmount();
    open("/reports/3?edit=1");
    expect(await screen.findByRole("region", { name: "Chart, block 2" })).toBeTruthy();
    expect(screen.getByDisplayValue("After")).toBeTruthy();
  });

  it("saves a refused block as a draft and shows the error", async () => {
    const wrong = { kind: "replay" as const, replay: 5, caption: "x" };
    const refuseIt = (asked: Asked) =>
      (asked.body as Report).blocks[1]?.kind === "replay"
        ? refusal(422, "No.", [{ field: "blocks.1.replay.replay", message: "no such replay" }])
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

  it("saves its blocks with the old title while the title is empty", async () => {
    const server = serve({ "GET /reports/3": aReport(), "PATCH /reports/3": changed });
    open("/reports/3?edit=1");
    await userEvent.clear(await screen.findByLabelText("Title"));
    await userEvent.type(screen.getByLabelText("Markdown"), "!");
    await screen.findByText("Saved with a problem: Enter a title.");
    expect(server.of("PATCH /reports/3").at(-1)?.body).toMatchObject({
      title: "Rates",
      blocks: [{ kind: "text", markdown: "# Why\nBecause!" }],
    });
  });

  it("shows while reading that the server refused the last change", async () => {
    serve({ "GET /reports/3": aReport(), "PATCH /reports/3": refusal(409, "It was changed.") });
    open("/reports/3?edit=1");
    await userEvent.type(await screen.findByLabelText("Title"), "!");
    await userEvent.click(screen.getByRole("button", { name: "Read" }));
    expect((await screen.findByRole("alert")).textContent).toContain("Not saved: the report was changed");
    expect(screen.getByRole("heading", { name: "Rates" })).toBeTruthy();
  });

  it("shows while reading that there is an unsaved draft", async () => {
    keep(3, { ...aReport(), title: "Rates of all" });
    serve({ "GET /reports/3": aReport() });
    open("/reports/3");
    expect((await screen.findByRole("alert")).textContent).toContain("Unsaved changes");
    await userEvent.click(screen.getByRole("button", { name: "Continue editing" }));
    expect(await screen.findByDisplayValue("Rates of all")).toBeTruthy();
  });

  it("shows that the report changed since the draft was started", async () => {
    keep(3, { ...aReport(), title: "Rates of all" });
    const server = serve({ "GET /reports/3": aReport({ version: 2 }) });
    open("/reports/3?edit=1");
    expect(await screen.findByText("This report was changed elsewhere")).toBeTruthy();
    expect(screen.getByText("Not saved: the report was changed elsewhere")).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Discard draft" }));
    expect(await screen.findByDisplayValue("Rates")).toBeTruthy();
    expect(screen.getByText("Saved")).toBeTruthy();
    expect(localStorage.length).toBe(0);
    expect(server.of("PATCH /reports/3")).toHaveLength(0);
  });

  it("shows changes from elsewhere if nothing was typed", async () => {
    let stored = aReport();
    serve({ "GET /reports/3": () => stored });
    const { client } = open("/reports/3?edit=1");
    await screen.findByDisplayValue("Rates");
    stored = aReport({ title: "Their rates", version: 2 });
    await client.invalidateQueries();
    expect(await screen.findByDisplayValue("Their rates")).toBeTruthy();
    expect(screen.getByText("Saved")).toBeTruthy();
  });

  it("shows that the server is unreachable and keeps the draft", async () => {
    serve({ "GET /reports/3": aReport(), "PATCH /reports/3": () => Promise.reject(new TypeError("away")) });
    open("/reports/3?edit=1");
    await userEvent.type(await screen.findByLabelText("Title"), "!");
    expect(await screen.findByText(/the server does not respond/)).toBeTruthy();
    expect(localStorage.getItem("arcadia-report-3")).toContain("Rates!");
  });

  it("distinguishes a refusal from an unreachable server", async () => {
    serve({ "GET /reports/3": aReport(), "PATCH /reports/3": refusal(422, "No such title.") });
    open("/reports/3?edit=1");
    const title = await screen.findByLabelText("Title");
    await userEvent.type(title, "!");
    expect(await screen.findByText("Not saved: No such title.")).toBeTruthy();
    await userEvent.type(title, "?");
    expect(screen.getByText("Saving…")).toBeTruthy();
  });

  it("can save the draft as a copy after a conflict", async () => {
    const server = serve({
      "GET /reports/3": aReport(),
      "PATCH /reports/3": refusal(409, "The report has changed."),
      "POST /reports": aReport({ id: 4 }),
    });
    open("/reports/3?edit=1");
    await userEvent.type(await screen.findByLabelText("Title"), "!");
    const copy = await screen.findByRole("button", { name: "Save draft as copy" });
    await userEvent.click(copy);
    await waitFor(() => expect(server.of("POST /reports")).toHaveLength(1));
    expect(server.of("POST /reports")[0]?.body).toEqual({ title: "Rates! (copy)", blocks: aReport().blocks });
  });

  it("adds and moves blocks and shows what is missing", async () => {
    serve({ "GET /reports/3": aReport(), "PATCH /reports/3": changed });
    open("/reports/3?edit=1");
    await userEvent.click(await screen.findByRole("button", { name: "Add chart" }));
    await screen.findByText(/^Saved\. Block 2 needs/);
    await userEvent.click(screen.getByRole("button", { name: "Move up: Chart, block 2" }));
    expect(screen.getByRole("region", { name: "Chart, block 1" })).toBeTruthy();
    await userEvent.click(screen.getByRole("button", { name: "Delete: Chart, block 1" }));
    expect(screen.queryByRole("region", { name: /Chart/ })).toBeNull();
    expect(await screen.findByText("Saved")).toBeTruthy();
  });

  it("restores deleted blocks at their positions and keeps the focus", async () => {
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

  it("restores a deleted block after changes from elsewhere", async () => {
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

  it("moves a block past a deleted one", async () => {
    const server = serve({ "GET /reports/3": aReport({ blocks: THREE }), "PATCH /reports/3": changed });
    open("/reports/3?edit=1");
    await userEvent.click(await screen.findByRole("button", { name: "Delete: Text, block 2" }));
    await userEvent.click(screen.getByRole("button", { name: "Move down: Text, block 1" }));
    await waitFor(() =>
      expect(server.of("PATCH /reports/3").at(-1)?.body).toMatchObject({ blocks: [THREE[2], THREE[0]] }),
    );
  });

  it("focuses the add buttons when the last block is deleted", async () => {
    serve({ "GET /reports/3": aReport(), "PATCH /reports/3": changed });
    open("/reports/3?edit=1");
    await userEvent.click(await screen.findByRole("button", { name: "Delete: Text, block 1" }));
    expect(document.activeElement).toBe(screen.getByRole("group", { name: "Add a block" }));
  });

  it("shows its table, and a message for a missing replay", async () => {
    const answer = ({ body }: Asked) =>
      JSON.stringify(body).includes("replay")
        ? { problem: "There is no replay 7." }
        : { table: { header: ["Run", "Steps"], rows: [["Quick", 100]] }, missing: "Run 9 was deleted." };
    const blocks: Report["blocks"] = [
      { kind: "table", of: "runs", numbers: [1, 9], columns: ["name", "step"], caption: "Who" },
      { kind: "replay", replay: 7, caption: "" },
    ];
    serve({ "GET /reports/3": aReport({ blocks }), "POST /reports/preview": answer });
    open("/reports/3");
    const table = within(await screen.findByRole("region", { name: "Who" }));
    expect(await table.findByRole("cell", { name: "Quick" })).toBeTruthy();
    expect(table.getByText("Run 9 was deleted.")).toBeTruthy();
    expect(await screen.findByText("This replay cannot be shown: There is no replay 7.")).toBeTruthy();
  });

  it("shows settings with all digits and measurements as scores", async () => {
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

  it("names the runs missing from its chart", async () => {
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

  it("can be shared by a link and revoked after confirmation", async () => {
    const shared = aReport({ share_token: "abc" });
    const server = serve({
      "GET /reports/3": aReport(),
      "POST /reports/3/share": shared,
      "DELETE /reports/3/share": aReport(),
    });
    open("/reports/3");
    await userEvent.click(await screen.findByRole("button", { name: "Share link" }));
    expect((await screen.findByLabelText<HTMLInputElement>("Read-only link")).value).toMatch(
      /\/shared\/reports\/abc$/,
    );
    await userEvent.click(screen.getByRole("button", { name: "Revoke" }));
    const question = within(await screen.findByRole("dialog", { name: "Revoke the link?" }));
    expect(server.of("DELETE /reports/3/share")).toHaveLength(0);
    await userEvent.click(question.getByRole("button", { name: "Revoke link" }));
    const share = await screen.findByRole("button", { name: "Share link" });
    await waitFor(() => expect(document.activeElement).toBe(share));
  });
});
