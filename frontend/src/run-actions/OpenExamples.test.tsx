import { act, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, describe, expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { refusal, serve } from "@/testing/server";
import { fakeStreams, stream } from "@/testing/stream";
import { OpenExamples } from "./OpenExamples";

const NOTHING = { runs: [], studies: [], already: [], already_studies: [], notes: [] };
const routes = [
  { path: "/reports/:id", element: <p>The report</p> },
  { path: "/runs", element: <p>The runs</p> },
];

describe("the button of the examples", () => {
  beforeEach(fakeStreams);

  it("imports them and opens their report", async () => {
    const server = serve({
      "POST /examples": { ...NOTHING, runs: [1, 2], reports: [7], already_reports: [] },
    });
    renderPage(<OpenExamples />, { at: "/", routes, live: true });
    await userEvent.click(screen.getByRole("button", { name: "Open examples" }));
    expect(await screen.findByText("The report")).toBeTruthy();
    expect(server.of("POST /examples")).toHaveLength(1);
  });

  it("opens the report that is already here", async () => {
    serve({ "POST /examples": { ...NOTHING, reports: [], already_reports: [7] } });
    renderPage(<OpenExamples />, { at: "/", routes, live: true });
    await userEvent.click(screen.getByRole("button", { name: "Open examples" }));
    expect(await screen.findByText("The report")).toBeTruthy();
  });

  it("counts the imported runs", async () => {
    serve({ "POST /examples": () => new Promise<object>(() => undefined) });
    renderPage(<OpenExamples />, { at: "/", routes, live: true });
    await userEvent.click(screen.getByRole("button", { name: "Open examples" }));
    expect(await screen.findByText("Reading the examples…")).toBeTruthy();
    act(() => stream().say("import.progress", JSON.stringify({ done: 3, total: 12 })));
    expect(await screen.findByText("Importing run 4 of 12…")).toBeTruthy();
    act(() => stream().say("import.progress", JSON.stringify({ done: 12, total: 12 })));
    expect(await screen.findByText("Importing the report…")).toBeTruthy();
  });

  it("says why they cannot be opened", async () => {
    serve({ "POST /examples": refusal(503, "The database is busy.") });
    renderPage(<OpenExamples />, { at: "/", routes, live: true });
    await userEvent.click(screen.getByRole("button", { name: "Open examples" }));
    expect(await screen.findByText("The database is busy.")).toBeTruthy();
  });
});
