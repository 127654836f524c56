import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import type { StartSet } from "@/api/types";
import { aStartSet } from "@/testing/evaluations";
import { aGame } from "@/testing/games";
import { renderPage } from "@/testing/render";
import { done, refusal, serve } from "@/testing/server";
import { StartSets } from "./StartSets";

const IMPORT = "POST /start-sets";
const FILE = { format: "arcadia-starts", version: 1, env: "ALE/Pong-v5", player: "human", starts: [] };

function open(sets: StartSet[] | (() => object), more: Record<string, object> = {}) {
  const server = serve({ "GET /start-sets": sets, ...more });
  renderPage(<StartSets game={aGame([])} />);
  return server;
}

const fileOf = (content: string) => new File([content], "pong.json", { type: "application/json" });

async function give(content: string) {
  await userEvent.click(await screen.findByRole("button", { name: "Import start set" }));
  const form = within(await screen.findByRole("dialog"));
  const input = document.querySelector<HTMLInputElement>("input[type=file]");
  if (!input) throw new Error("The form takes no file.");
  await userEvent.upload(input, fileOf(content));
  return { form, send: () => userEvent.click(form.getByRole("button", { name: "Import" })) };
}

describe("the start points of a game", () => {
  it("are listed with their player and can be exported", async () => {
    const server = open([
      aStartSet(4),
      aStartSet(5, { name: "PAAC", player: "agent", protocol: "agent-starts" }),
    ]);
    const [, human, agent] = await screen.findAllByRole("row");
    expect(human?.textContent).toContain("Ana's games human-startsA person's play: Ana, three games");
    expect(human?.textContent).toContain("100");
    expect(agent?.textContent).toContain("An agent's play");
    expect(screen.getByRole("link", { name: "Export PAAC" }).getAttribute("href")).toBe(
      "/api/v1/export/start-sets/5.json",
    );
    expect(server.of("GET /start-sets")[0]?.query.get("env")).toBe("ALE/Pong-v5");
  });

  it("are explained if there are none", async () => {
    open([]);
    await screen.findByText("Pong has no start points yet.");
  });

  it("are imported from a file with its name", async () => {
    let sets: StartSet[] = [];
    const server = open(() => sets, {
      [IMPORT]: () => {
        sets = [aStartSet(4, { name: "pong" })];
        return sets[0] as object;
      },
    });
    const { form, send } = await give(JSON.stringify(FILE));
    expect(form.getByLabelText<HTMLInputElement>("Name").value).toBe("pong");
    await send();
    await screen.findByText("Stored 100 start points as pong.");
    await screen.findByRole("link", { name: "Export pong" });
    const [asked] = server.of(IMPORT);
    expect([asked?.query.get("name"), asked?.body]).toEqual(["pong", FILE]);
  });

  it.each([
    ["nonsense", "pong.json is not a JSON file."],
    ["[]", "pong.json is not a start set: it names no game."],
    ['{"env": "ALE/Breakout-v5"}', "pong.json is for ALE/Breakout-v5. Import it on that game's page."],
  ])("are not imported from %s", async (content, words) => {
    const server = open([]);
    const { form, send } = await give(content);
    await send();
    await form.findByText(words);
    expect(server.of(IMPORT)).toEqual([]);
  });

  it("show the server's errors with fields of the file", async () => {
    const wrong = { field: "starts.0.seed", message: "Input should be a valid integer" };
    open([], { [IMPORT]: refusal(422, "Refused", [wrong]) });
    const { form, send } = await give(JSON.stringify(FILE));
    await send();
    expect((await form.findByRole("alert")).textContent).toBe(
      "starts.0.seed: Input should be a valid integer",
    );
  });

  it("are removed after confirmation", async () => {
    let sets = [aStartSet(4, { points: 1 })];
    open(() => sets, {
      "DELETE /start-sets/4": () => {
        sets = [];
        return done();
      },
    });
    await userEvent.click(await screen.findByRole("button", { name: "Remove Ana's games" }));
    await screen.findByText(/^Ana's games, 1 point\. New evaluations/);
    await userEvent.click(await screen.findByRole("button", { name: "Remove start points" }));
    await screen.findByText("Pong has no start points yet.");
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });
});
