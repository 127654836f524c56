import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { openRuns } from "@/testing/runList";
import { aRun, runListOf } from "@/testing/runs";
import { type Asked, refusal } from "@/testing/server";
import RunsPage from "./RunsPage";

beforeEach(() => sessionStorage.clear());

const RUN = aRun({ id: 7, name: "first try", tags: ["old"], notes: "Too slow." });

/** Shows a run whose edits the server stores, or answers otherwise. */
function show(answer?: () => object) {
  let run = RUN;
  const server = openRuns(
    {},
    {
      "GET /runs": () => runListOf([run]),
      "GET /runs/7": () => run,
      "PATCH /runs/7": ({ body }: Asked) => answer?.() ?? (run = { ...run, ...(body as object) }),
      "GET /run-facets": { ...NO_FACETS, tag: [{ value: "good", runs: 1 }] },
    },
  );
  const page = renderPage(<RunsPage />);
  return { ...page, sent: () => server.of("PATCH /runs/7").map(({ body }) => body) };
}

const NO_FACETS = { state: [], algorithm: [], env: [] };

async function open() {
  await userEvent.click(await screen.findByRole("button", { name: "Edit first try" }));
  return within(await screen.findByRole("dialog", { name: "Edit first try" }));
}

describe("editing a run in its row", () => {
  it("saves only the changed fields, and shows them in the row", async () => {
    const { sent } = show();
    const form = await open();
    const name = form.getByLabelText("Name");
    expect(document.activeElement).toBe(name);
    await userEvent.clear(name);
    await userEvent.type(name, " best one {Enter}");
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(sent()).toEqual([{ name: "best one" }]);
    expect(document.activeElement).toBe(screen.getByText("best one").closest("a"));
  });

  it("saves tags and notes with Ctrl-Enter", async () => {
    const { sent } = show();
    const form = await open();
    await form.findByDisplayValue("Too slow.");
    await userEvent.type(form.getByRole("combobox", { name: "Tags" }), "good{Enter}");
    await userEvent.type(form.getByLabelText("Notes"), " Again.{Control>}{Enter}{/Control}");
    await waitFor(() => expect(sent()).toEqual([{ tags: ["old", "good"], notes: "Too slow. Again." }]));
  });

  it("starts with F2 on the current row, and with a double click at the field", async () => {
    show();
    await screen.findByText("first try");
    await userEvent.keyboard("j{F2}");
    const opened = await screen.findByRole("dialog", { name: "Edit first try" });
    await waitFor(() => expect(opened.contains(document.activeElement)).toBe(true));
    await userEvent.keyboard("{Escape}");
    expect(screen.queryByRole("dialog")).toBeNull();
    await userEvent.dblClick(screen.getByText("old"));
    const form = within(await screen.findByRole("dialog", { name: "Edit first try" }));
    await waitFor(() => expect(document.activeElement).toBe(form.getByRole("combobox", { name: "Tags" })));
  });

  it("discards the draft on Escape", async () => {
    const { sent } = show();
    const form = await open();
    await userEvent.type(form.getByLabelText("Name"), " changed{Escape}");
    expect(screen.queryByRole("dialog")).toBeNull();
    expect((await open()).getByLabelText<HTMLInputElement>("Name").value).toBe("first try");
    expect(sent()).toEqual([]);
  });

  it("refuses an empty name in place", async () => {
    const { sent } = show();
    const form = await open();
    await userEvent.clear(form.getByLabelText("Name"));
    await userEvent.click(form.getByText("Save"));
    expect(form.getByText("Enter a name.")).toBeTruthy();
    expect(sent()).toEqual([]);
  });

  it("keeps the draft if it could not be saved, also when the page is opened again", async () => {
    const { unmount } = show(() => refusal(503, "The database is locked."));
    const form = await open();
    await userEvent.type(form.getByLabelText("Name"), " changed{Enter}");
    expect((await form.findByRole("alert")).textContent).toContain("The database is locked.");
    expect(form.getByLabelText<HTMLInputElement>("Name").value).toBe("first try changed");
    unmount();
    const { sent } = show();
    const again = await open();
    expect(again.getByLabelText<HTMLInputElement>("Name").value).toBe("first try changed");
    await userEvent.click(again.getByText("Save"));
    await waitFor(() => expect(sent()).toEqual([{ name: "first try changed" }]));
  });

  it("shows a refusal at its field", async () => {
    show(() => refusal(422, "Invalid", [{ field: "tags.0", message: "at most 50 characters" }]));
    const form = await open();
    await userEvent.type(form.getByRole("combobox", { name: "Tags" }), "long{Enter}");
    await userEvent.click(form.getByText("Save"));
    expect(await form.findByText("at most 50 characters")).toBeTruthy();
  });
});
