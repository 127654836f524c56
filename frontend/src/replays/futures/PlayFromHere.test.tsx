import { screen } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";
import { button, fakePlayback, openReplay, press, show } from "@/testing/whatIf";

beforeEach(fakePlayback);

describe("playing from here", () => {
  it("opens a game at the shown decision", async () => {
    const { router } = openReplay();
    await screen.findByRole("slider", { name: "Moment of the replay" });
    show(8.5 / 20);
    await press("Play from here");
    expect(`${router.state.location.pathname}${router.state.location.search}`).toBe(
      "/replays/2/play?decision=2&t=0.425",
    );
  });

  it("is not possible if the server says why", async () => {
    const reason = "A person cannot play Walker2d, because its actions are numbers.";
    openReplay({
      replay: { actions: { simulate: null, play: reason, saliency: null, start_points: null, edit: null } },
    });
    await screen.findByRole("slider", { name: "Moment of the replay" });
    const opener = await button("Play from here");
    expect(opener.getAttribute("aria-disabled")).toBe("true");
  });
});
