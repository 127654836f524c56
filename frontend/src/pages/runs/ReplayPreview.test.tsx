import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { aReplay } from "@/testing/files";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { serve } from "@/testing/server";
import { ReplayPreview } from "./RunCell";

it("plays the newest replay on hover, and fetches nothing before", async () => {
  const server = serve({ "GET /runs/1/replays": [aReplay(3, 1000), aReplay(5, 9000)] });
  renderPage(
    <ReplayPreview run={aRun({ id: 1, name: "Pong", poster_file_id: 7 })}>
      <span>picture</span>
    </ReplayPreview>,
  );
  expect(server.asked).toEqual([]);
  await userEvent.hover(screen.getByText("picture"));
  const video = await screen.findByLabelText("Newest replay of Pong");
  expect(video.getAttribute("src")).toContain("/files/105");
});
