import { screen, waitFor } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { Report } from "@/api/types";
import { renderPage } from "@/testing/render";
import { aReport } from "@/testing/reports";
import { refusal, serve } from "@/testing/server";
import SharedReportPage from "./SharedReportPage";

describe("a shared report", () => {
  const read = () =>
    renderPage(<SharedReportPage />, { at: "/shared/reports/abc", path: "/shared/reports/:token" });

  it("requests only the shared report", async () => {
    const blocks: Report["blocks"] = [
      { kind: "text", markdown: "# Why" },
      { kind: "replay", replay: 7, caption: "" },
    ];
    const { title, version, updated_at } = aReport();
    const replay = {
      run_id: 1,
      run_name: "Rally",
      step: 100,
      episode_return: 3,
      seconds: 2,
      file_id: 5,
      poster_file_id: 6,
    };
    const server = serve({
      "GET /shared/abc": { title, version, updated_at, blocks },
      "GET /shared/abc/blocks/1": { replay },
    });
    const page = read();
    expect(await screen.findByRole("heading", { name: "Why" })).toBeTruthy();
    await waitFor(() => expect(page.container.querySelector("video")).not.toBeNull());
    const film = page.container.querySelector("video");
    expect(film?.getAttribute("src")).toBe("/api/v1/shared/abc/files/5");
    expect(film?.getAttribute("poster")).toBe("/api/v1/shared/abc/files/6");
    expect(screen.queryByRole("link")).toBeNull();
    expect(new Set(server.asked.map(({ path }) => path.split("/").slice(0, 3).join("/")))).toEqual(
      new Set(["/shared/abc"]),
    );
  });

  it("shows that its link was revoked", async () => {
    serve({ "GET /shared/abc": refusal(404, "Report not found.") });
    read();
    expect(await screen.findByRole("heading", { name: "Report not found" })).toBeTruthy();
  });
});
