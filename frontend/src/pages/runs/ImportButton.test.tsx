import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { anEnvironment } from "@/testing/environments";
import { renderPage } from "@/testing/render";
import { openRuns } from "@/testing/runList";
import { aRun } from "@/testing/runs";
import { refusal } from "@/testing/server";
import RunsPage from "./RunsPage";

// The test server parses bodies as JSON.
const file = (name = "pong.arcadia") => new File(["1"], name);
const result = (changes: object = {}) => ({
  runs: [],
  studies: [],
  reports: [],
  already: [],
  already_studies: [],
  already_reports: [],
  notes: [],
  ...changes,
});

describe("importing archive files", () => {
  it("imports chosen files one after the other, and reads the list again", async () => {
    let imported = 0;
    const server = openRuns(
      { runs: [aRun()] },
      { "POST /archives": () => result({ runs: [(imported += 1), 9] }) },
    );
    renderPage(<RunsPage />, { at: "/" });
    await userEvent.upload(await screen.findByLabelText("Archive and agent files"), [
      file(),
      file("cart.arcadia"),
    ]);
    await screen.findByText("Imported 2 runs from pong.arcadia: #1, #9.");
    await screen.findByText("Imported 2 runs from cart.arcadia: #2, #9.");
    expect(server.of("POST /archives")).toHaveLength(2);
    await waitFor(() => expect(server.of("GET /runs").length).toBeGreaterThan(1));
  });

  it("imports a dropped file", async () => {
    openRuns({ runs: [aRun()] }, { "POST /archives": result({ already: [4] }) });
    renderPage(<RunsPage />, { at: "/" });
    const heading = await screen.findByRole("heading", { level: 1 });
    const isDropTarget = () => heading.closest("[data-drop-target]") !== null;
    const dataTransfer = { files: [file()], types: ["Files"] };
    fireEvent.dragOver(heading, { dataTransfer });
    expect(isDropTarget()).toBe(true);
    fireEvent.drop(heading, { dataTransfer });
    expect(isDropTarget()).toBe(false);
    expect(await screen.findByText("1 run of pong.arcadia is already here: #4.")).toBeTruthy();
  });

  it("shows why the server refuses a file, and imports the next", async () => {
    let count = 0;
    const answer = () =>
      (count += 1) === 1 ? refusal(422, "archive.json is missing.") : result({ runs: [7] });
    openRuns({ runs: [aRun()] }, { "POST /archives": answer });
    renderPage(<RunsPage />, { at: "/" });
    await userEvent.upload(await screen.findByLabelText("Archive and agent files"), [
      file(),
      file("cart.arcadia"),
    ]);
    expect(await screen.findByText("pong.arcadia was not imported. archive.json is missing.")).toBeTruthy();
    expect(await screen.findByText("Imported 1 run from cart.arcadia: #7.")).toBeTruthy();
  });

  it("names imported studies and reports, and counts many runs", async () => {
    const runs = Array.from({ length: 12 }, (_, number) => number + 1);
    const answer = result({ runs, studies: [3], already_reports: [4], notes: ["Study 3: A note."] });
    openRuns({ runs: [aRun()] }, { "POST /archives": answer });
    renderPage(<RunsPage />, { at: "/" });
    await userEvent.upload(await screen.findByLabelText("Archive and agent files"), file());
    const message = await screen.findByText(/Imported 12 runs/);
    expect(message.textContent).toBe(
      "Imported 12 runs from pong.arcadia: #1, #2, #3, #4, #5, #6, #7, #8, #9, #10 and 2 more. " +
        "Imported 1 study from pong.arcadia: #3. 1 report of pong.arcadia is already here: #4. Study 3: A note.",
    );
  });
});

describe("importing agents", () => {
  it("requests the environment of a model, and opens the new run", async () => {
    let count = 0;
    const answer = () =>
      (count += 1) === 1
        ? refusal(422, "Name its environment, such as CartPole-v1.")
        : { run_id: 7, checkpoint_id: 1, already: false };
    const server = openRuns(
      { runs: [aRun()] },
      { "POST /agents": answer, "GET /environments": [anEnvironment("Chess")] },
    );
    renderPage(<RunsPage />, { at: "/", routes: [{ path: "/runs/7", element: "The run" }] });
    await userEvent.upload(await screen.findByLabelText("Archive and agent files"), file("ppo.zip"));
    const dialog = within(await screen.findByRole("dialog"));
    await userEvent.click(dialog.getByRole("button", { name: "Import agent" }));
    expect(await dialog.findByText("Name its environment, such as CartPole-v1.")).toBeTruthy();
    await userEvent.click(dialog.getByRole("combobox", { name: "Environment" }));
    await userEvent.click(await screen.findByRole("option", { name: /Chess/ }));
    await userEvent.click(dialog.getByRole("button", { name: "Import agent" }));
    expect(await screen.findByText("The run")).toBeTruthy();
    expect(server.of("POST /agents")[1]?.query.get("env")).toBe("Chess");
  });
});
