import { screen } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { refusal, serve } from "@/testing/server";
import { fakeStreams } from "@/testing/stream";
import EmbedPage from "./EmbedPage";

const PANEL = "GET /projects/3/board/panels/rates";
const SIGNED_IN = { required: true, signed_in: true };

beforeEach(fakeStreams);

function open(answers: Record<string, object>) {
  serve({ "GET /session": SIGNED_IN, ...answers });
  renderPage(<EmbedPage />, { at: "/embed/3/rates", path: "/embed/:project?/:panel?" });
}

it("shows a panel of a project that was merged into another one", async () => {
  const panel = { key: "a1", title: "Rates", address: "/api/v1/figures/curves?runs=1", filter: null };
  open({ [PANEL]: { project_id: 5, project: "Carts", panel } });
  expect(await screen.findByText("Rates")).toBeTruthy();
});

it("says that a panel is gone", async () => {
  open({ [PANEL]: () => refusal(404, "The board of Carts has no chart 'rates'.") });
  expect(await screen.findByText("The board of Carts has no chart 'rates'.")).toBeTruthy();
});

it("requires readers to sign in, in this tab or another one", async () => {
  open({ "GET /session": { required: true, signed_in: false } });
  const link = await screen.findByRole("link", { name: "Sign in" });
  expect(link.getAttribute("target")).toBe("_blank");
  expect(screen.queryByRole("link", { name: "open the chart in Arcadia" })).toBeNull();
});
