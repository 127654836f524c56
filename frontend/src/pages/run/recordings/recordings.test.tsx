import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { useState } from "react";
import { describe, expect, it } from "vitest";
import type { Recording } from "@/api/types";
import { QUEUED_JOB } from "@/testing/jobs";
import { aCheckpoint } from "@/testing/files";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { refusal, serve } from "@/testing/server";
import { RecordingsList } from "./ReplaysPage";
import { RecordModal } from "./RecordModal";
import { DeleteRecording } from "@/replays/DeleteRecording";

const REQUEST = "POST /runs/1/recordings";

function aRecording(id: number, changes: Partial<Recording> = {}): Recording {
  return {
    ...QUEUED_JOB,
    id,
    run_id: 1,
    reason: "A worker is about to take it.",
    checkpoint_id: 3,
    step: 3000,
    protocol: "no-op-5min",
    seed: id,
    episode: 0,
    replay_id: null,
    ...changes,
  };
}

async function open(answer: object = aRecording(1)) {
  const server = serve({ [REQUEST]: answer });
  renderPage(<RecordModal run={aRun()} checkpoint={aCheckpoint(3, 3000)} onClose={() => undefined} />, {
    routes: [{ path: "/runs/1/replays", element: "The replays" }],
  });
  const form = within(await screen.findByRole("dialog"));
  const fill = async (label: string, text: string) => {
    const field = form.getByLabelText(label);
    await userEvent.clear(field);
    if (text) await userEvent.type(field, text);
  };
  const submit = () => userEvent.click(form.getByRole("button", { name: "Record" }));
  return { form, fill, submit, asked: () => server.of(REQUEST).map(({ body }) => body) };
}

describe("the recording form", () => {
  it("requests an episode and opens the replays", async () => {
    const { fill, submit, asked } = await open();
    await fill("Seed", "7");
    await fill("Episode", "12");
    await submit();
    expect(await screen.findByText("The replays")).toBeTruthy();
    expect(asked()).toEqual([{ checkpoint: 3, seed: 7, episode: 12 }]);
  });

  it("rejects invalid numbers without a request", async () => {
    const { form, fill, submit, asked } = await open();
    await fill("Seed", "-1");
    await fill("Episode", "");
    await submit();
    expect(form.getByText("Enter a whole number from 0 to 9007199254740991.")).toBeTruthy();
    expect(form.getByText("Enter a whole number from 0 to 999999.")).toBeTruthy();
    expect(asked()).toEqual([]);
  });

  it("shows why the server refuses", async () => {
    const sentence = "The checkpoint at step 3000 was deleted; choose one that is still kept.";
    const { form, submit } = await open(refusal(409, sentence));
    await submit();
    expect((await form.findByRole("alert")).textContent).toBe(sentence);
  });
});

describe("the requested recordings", () => {
  it("are listed until they are done, and can be canceled or removed", async () => {
    const server = serve({
      "GET /runs/1/recordings": [
        aRecording(1),
        aRecording(2, { state: "failed", reason: "The game is missing." }),
        aRecording(3, { state: "done", replay_id: 9, reason: null }),
      ],
      "POST /recordings/1/cancel": aRecording(1, { state: "cancelled" }),
      "DELETE /recordings/2": new Response(null, { status: 204 }),
    });
    renderPage(<RecordingsList run={aRun()} />);
    expect(await screen.findByText("The recording at 3 k steps, seed 1, episode 0: waiting")).toBeTruthy();
    expect(screen.getByText("A worker is about to take it.")).toBeTruthy();
    expect(screen.getByText("The game is missing.")).toBeTruthy();
    expect(screen.queryByText(/seed 3/)).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: /^Cancel the recording/ }));
    await userEvent.click(screen.getByRole("button", { name: /^Delete the recording/ }));
    await waitFor(() => {
      expect(server.of("POST /recordings/1/cancel")).toHaveLength(1);
      expect(server.of("DELETE /recordings/2")).toHaveLength(1);
    });
  });

  it("are hidden if there are none", async () => {
    const server = serve({ "GET /runs/1/recordings": [] });
    renderPage(<RecordingsList run={aRun()} />);
    await waitFor(() => expect(server.of("GET /runs/1/recordings")).toHaveLength(1));
    expect(screen.queryByRole("region")).toBeNull();
  });
});

describe("a finished recording", () => {
  it("can be removed after a confirmation", async () => {
    const server = serve({
      "GET /runs/1/recordings": [aRecording(3, { state: "done", replay_id: 9, reason: null })],
      "DELETE /recordings/3": new Response(null, { status: 204 }),
    });
    renderPage(<DeleteRecording run={1} replay={9} />);
    await userEvent.click(await screen.findByRole("button", { name: "Delete" }));
    await userEvent.click(await screen.findByRole("button", { name: "Delete recording" }));
    await waitFor(() => expect(server.of("DELETE /recordings/3")).toHaveLength(1));
  });

  it("is removed even if another replay is shown by the time of the confirmation", async () => {
    const recording = (id: number, replay_id: number) =>
      aRecording(id, { state: "done", replay_id, reason: null });
    const server = serve({
      "GET /runs/1/recordings": [recording(3, 9), recording(4, 10)],
      "DELETE /recordings/3": new Response(null, { status: 204 }),
      "DELETE /recordings/4": new Response(null, { status: 204 }),
    });
    let showNewer: () => void = () => undefined;
    function Shown() {
      const [replay, setVideo] = useState(9);
      showNewer = () => setVideo(10);
      return <DeleteRecording run={1} replay={replay} />;
    }
    renderPage(<Shown />);
    await userEvent.click(await screen.findByRole("button", { name: "Delete" }));
    const confirm = await screen.findByRole("button", { name: "Delete recording" });
    act(showNewer);
    await userEvent.click(confirm);
    await waitFor(() => expect(server.of("DELETE /recordings/3")).toHaveLength(1));
    expect(server.of("DELETE /recordings/4")).toEqual([]);
  });

  it("is distinguished from a replay of the training, which cannot be removed", async () => {
    const server = serve({ "GET /runs/1/recordings": [aRecording(3, { state: "done", replay_id: 9 })] });
    renderPage(<DeleteRecording run={1} replay={8} />);
    await waitFor(() => expect(server.of("GET /runs/1/recordings")).toHaveLength(1));
    expect(screen.queryByRole("button", { name: "Delete" })).toBeNull();
  });
});
