import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { anArtifactWithVersions, anEntry, aVersion, aVersionWithFiles } from "@/testing/artifacts";
import { renderPage } from "@/testing/render";
import { done, refusal, serve } from "@/testing/server";
import ArtifactPage from "./ArtifactPage";

function open(at = "/artifacts/3", more: Record<string, object> = {}) {
  const server = serve({
    "GET /artifacts/3": anArtifactWithVersions(),
    "GET /artifacts/3/versions/1": aVersionWithFiles(),
    "GET /artifacts/3/versions/0": aVersionWithFiles({
      ...aVersion({ id: 9, version: 0 }),
      made_by: [],
      used_by: [],
    }),
    ...more,
  });
  const routes = [{ path: "/artifacts", element: <p>All artifacts</p> }];
  const page = renderPage(<ArtifactPage />, { at, path: "/artifacts/:id/:version?", routes });
  return { ...page, server };
}

const region = async (name: string) => within(await screen.findByRole("region", { name }));

describe("the page of an artifact", () => {
  it("shows the newest version with its metadata and its runs", async () => {
    open();
    const version = await region("Version 1");
    expect(version.getByText("score").nextSibling?.textContent).toBe("21");
    expect(version.getByRole("link", { name: "Download" }).getAttribute("href")).toBe(
      "/api/v1/artifacts/3/versions/1/zip",
    );
    const lineage = await region("Lineage");
    expect(lineage.getAllByRole("link").map(({ textContent }) => textContent)).toEqual([
      "My run (run 1)",
      "Evaluates (run 2)",
    ]);
    const versions = within(screen.getByRole("navigation", { name: "Versions" }));
    expect(versions.getAllByRole("link").map((link) => link.getAttribute("aria-current"))).toEqual([
      "true",
      null,
    ]);
  });

  it("says that the run which made a version was deleted", async () => {
    open("/artifacts/3/v0");
    const lineage = await region("Lineage");
    expect(lineage.getByText("My run, which was deleted")).toBeTruthy();
    expect(lineage.getByText("no run yet")).toBeTruthy();
  });

  it("shows a table and a JSON file from the folders of a version", async () => {
    open("/artifacts/3", {
      "GET /artifacts/3/versions/1/file": ({ query }: { query: URLSearchParams }) =>
        new Response(query.get("path") === "config.json" ? '{"a":1}' : "episode,return\n0,21\n"),
    });
    const files = await region("Files");
    await userEvent.click(files.getByRole("link", { name: /eval/ }));
    await userEvent.click(await screen.findByRole("link", { name: /scores.csv/ }));
    const table = await region("eval/scores.csv");
    expect((await table.findAllByRole("row")).map(({ textContent }) => textContent)).toEqual([
      "episodereturn",
      "021",
    ]);
    await userEvent.click(screen.getByRole("link", { name: "agent" }));
    await userEvent.click(await screen.findByRole("link", { name: /config.json/ }));
    expect((await screen.findByLabelText("Content of config.json")).textContent).toBe('{\n  "a": 1\n}');
  });

  it("says why a file has no preview", async () => {
    open("/artifacts/3?file=weights.bin");
    expect(await screen.findByText(/has no preview/)).toBeTruthy();
    await userEvent.click(screen.getByRole("link", { name: /remote/ }));
    expect(await screen.findByText("s3://bucket/remote")).toBeTruthy();
  });

  it("sets and removes an alias", async () => {
    const { server } = open("/artifacts/3", {
      "PUT /artifacts/3/aliases/stable": anArtifactWithVersions(),
      "PUT /artifacts/3/aliases/v9": refusal(422, "alias: v9 cannot be an alias"),
      "DELETE /artifacts/3/aliases/best": done(),
    });
    await userEvent.click(await screen.findByRole("button", { name: "Actions for agent:v1" }));
    await userEvent.click(await screen.findByText("Set alias…"));
    const field = await screen.findByRole("combobox", { name: "Alias" });
    await userEvent.type(field, "v9");
    await userEvent.click(screen.getByRole("button", { name: "Set alias" }));
    expect(await screen.findByText("alias: v9 cannot be an alias")).toBeTruthy();
    await userEvent.clear(field);
    await userEvent.type(field, "stable");
    await userEvent.click(screen.getByRole("button", { name: "Set alias" }));
    expect(await screen.findByText("agent:stable is now v1.")).toBeTruthy();
    expect(server.of("PUT /artifacts/3/aliases/stable")[0]?.body).toEqual({ version: 1 });
    await userEvent.click(screen.getByRole("button", { name: "Actions for agent:v1" }));
    await userEvent.click(await screen.findByText("Remove alias best"));
    await waitFor(() => expect(server.of("DELETE /artifacts/3/aliases/best")).toHaveLength(1));
  });

  it("deletes a version after confirmation, and shows the others", async () => {
    const { server, router } = open("/artifacts/3/v1", { "DELETE /artifacts/3/versions/1": done() });
    await userEvent.click(await screen.findByRole("button", { name: "Actions for agent:v1" }));
    await userEvent.click(await screen.findByText("Delete version…"));
    expect(await screen.findByText("Used by Evaluates (run 2).")).toBeTruthy();
    expect(screen.getByText("Its alias best will be removed.")).toBeTruthy();
    await userEvent.click(await screen.findByRole("button", { name: "Delete v1" }));
    await waitFor(() => expect(server.of("DELETE /artifacts/3/versions/1")).toHaveLength(1));
    await waitFor(() => expect(router.state.location.pathname).toBe("/artifacts/3"));
  });

  it("names versions and artifacts that do not exist", async () => {
    open("/artifacts/3/v8");
    expect(await screen.findByText("agent has no version v8")).toBeTruthy();
  });

  it.each([
    ["/artifacts/3?version=77", "agent has no version v77"],
    ["/artifacts/3?file=nope.txt", "agent:v1 has no file nope.txt. Choose one from the list."],
  ])("says what %s names that does not exist", async (address, sentence) => {
    open(address);
    expect(await screen.findByText(sentence)).toBeTruthy();
  });

  it("says that a picture is broken", async () => {
    const entries = [anEntry("broken.png")];
    open("/artifacts/3?file=broken.png", { "GET /artifacts/3/versions/1": aVersionWithFiles({ entries }) });
    fireEvent.error(await screen.findByRole("img", { name: "broken.png" }));
    expect(screen.getByText(/The browser cannot show this picture/)).toBeTruthy();
  });

  it("does not download a version of references", async () => {
    const entries = [anEntry("remote", { sha256: null, file_id: null, uri: "s3://bucket/remote", bytes: 0 })];
    open("/artifacts/3", { "GET /artifacts/3/versions/1": aVersionWithFiles({ entries }) });
    const button = await screen.findByRole("button", { name: "Download" });
    expect(button.getAttribute("aria-disabled")).toBe("true");
  });

  it("says that an artifact does not exist", async () => {
    open("/artifacts/3", { "GET /artifacts/3": refusal(404, "There is no artifact 3.") });
    expect(await screen.findByText("There is no artifact 3")).toBeTruthy();
  });
});
