import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it } from "vitest";
import type { Mark } from "@/api/types";
import { aMark } from "@/testing/marks";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { serve } from "@/testing/server";
import { CurveMarks } from "./CurveMarks";
import { MarkMenu } from "./MarkMenu";

const AREA = { left: 50, width: 1000, from: 0, to: 10_000, log: false };
const RULES = [{ name: "entropy_collapsed", title: "Entropy collapsed", explanation: "It stays low." }];

beforeEach(() => localStorage.clear());

function show(marks: Mark[]) {
  serve({ "GET /runs/1/marks": marks, "GET /anomaly-rules": RULES });
  renderPage(
    <>
      <MarkMenu />
      <CurveMarks run={aRun({ id: 1 })} metrics={["episode/return"]} isMain axis="step" area={AREA} />
    </>,
  );
}

it("shows what happened on hover, and plays the replay on a click", async () => {
  show([
    aMark({ best: true, title: "Best checkpoint", checkpoint_id: 3, replay_file_id: 7, poster_file_id: 8 }),
  ]);
  const mark = await screen.findByRole("button", { name: "Best checkpoint at 1 k steps" });
  expect(mark.style.left).toBe("150px");
  await userEvent.hover(mark);
  expect((await screen.findByRole("img", { name: "Replay at 1 k steps" })).getAttribute("src")).toContain(
    "/files/8",
  );
  expect(screen.getByText("Mean return 12.5")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Fork here" })).toBeTruthy();
  await userEvent.click(mark);
  expect((await screen.findByLabelText("Replay at 1 k steps")).getAttribute("src")).toContain("/files/7");
});

it("lists all marks of a place under the most important one", async () => {
  show([
    aMark(),
    aMark({ kind: "anomaly", rule: "speed_halved", title: "Speed halved when other #8 started", run_id: 8 }),
  ]);
  const mark = await screen.findByRole("button", { name: /^2 marks: Speed halved / });
  await userEvent.click(mark);
  expect(await screen.findByText("Checkpoint")).toBeTruthy();
  expect(screen.getByRole("link", { name: "Open run 8" }).getAttribute("href")).toBe("/runs/8");
});

it("hides a kind of marks and turns a rule off", async () => {
  show([
    aMark({ step: 2000 }),
    aMark({ step: 5000, kind: "anomaly", rule: "entropy_collapsed", title: "Entropy collapsed" }),
  ]);
  expect(await screen.findAllByRole("button", { name: / steps$/ })).toHaveLength(2);
  await userEvent.click(screen.getByRole("button", { name: "Marks" }));
  await userEvent.click(await screen.findByRole("menuitemcheckbox", { name: "Checkpoints" }));
  await userEvent.click(await screen.findByRole("menuitemcheckbox", { name: /^Entropy collapsed/ }));
  await waitFor(() => expect(screen.queryByRole("group", { name: "Marks on the curve" })).toBeNull());
});
