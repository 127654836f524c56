import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { beforeEach, expect, it } from "vitest";
import type { Finding } from "@/api/types";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { serve } from "@/testing/server";
import { aStudy } from "@/testing/studies";
import { DiagnosisCard } from "./DiagnosisCard";

const PREVIEW = {
  points: 2,
  runs: 6,
  steps: 6000,
  seconds: 120,
  concurrent_runs: 2,
  unmeasured: [],
  estimated: [],
  confirm: null,
  refused: null,
};

function aFinding(changes: Partial<Finding> = {}): Finding {
  return {
    rule: "return_stalled",
    title: "Return stalled",
    cause: "The agent learns nothing.",
    detail: "The mean return was 9 and is 9 now.",
    evidence: { metric: "episode/return", title: "Return per episode", first_step: 0, last_step: 980 },
    settings: [{ field: "learning_rate", title: "Learning rate", current: 5, suggested: 0.003 }],
    test: {
      name: "Fix of run 3: Return stalled",
      config: { algorithm: "paac" },
      axes: [{ field: "learning_rate", values: [5, 0.003] }],
      seeds: [1, 2, 3],
      diagnosis: { run_id: 3, rule: "return_stalled" },
    },
    tests: [],
    ...changes,
  };
}

function open(findings: Finding[], preview: object = PREVIEW) {
  const server = serve({
    "GET /runs/3/diagnosis": findings,
    "POST /studies/preview": preview,
    "POST /studies": aStudy({ id: 8 }),
  });
  renderPage(<DiagnosisCard run={aRun({ id: 3 })} />, {
    routes: [{ path: "/studies/8", element: <p>Page of the study</p> }],
  });
  return server;
}

beforeEach(() => localStorage.clear());

it("shows cause, settings and a link to the zoomed curve", async () => {
  open([aFinding()]);
  const card = within(await screen.findByRole("region", { name: "Diagnosis" }));
  expect(card.getByText("The agent learns nothing.")).toBeTruthy();
  expect(card.getByText("Try: Learning rate 5 → 0.003")).toBeTruthy();
  const link = card.getByRole("link", { name: "Show “Return per episode” from 0 to 980 steps" });
  expect(decodeURIComponent(link.getAttribute("href") ?? "")).toBe(
    "/runs/3/curves?zoom=0:980#episode/return",
  );
});

it("is hidden without findings, and for rules that are turned off", async () => {
  localStorage.setItem("arcadia-hidden-marks", JSON.stringify(["return_stalled"]));
  const server = open([aFinding()]);
  await waitFor(() => expect(server.of("GET /runs/3/diagnosis")).toHaveLength(1));
  expect(screen.queryByRole("region", { name: "Diagnosis" })).toBeNull();
});

it("shows the cost before it starts the test", async () => {
  const server = open([aFinding()]);
  await userEvent.click(await screen.findByRole("button", { name: "Test this fix" }));
  const dialog = within(await screen.findByRole("dialog", { name: "Test this fix" }));
  expect(await dialog.findByText("6 runs, 6 k steps, about 2 min on 2 workers")).toBeTruthy();
  expect(server.of("POST /studies")).toEqual([]);
  await userEvent.click(dialog.getByRole("button", { name: "Start 6 runs" }));
  expect(await screen.findByText("Page of the study")).toBeTruthy();
  expect(server.of("POST /studies")[0]?.body).toMatchObject({
    diagnosis: { run_id: 3, rule: "return_stalled" },
    confirm_steps: null,
  });
});

it("requires a confirmation of an unknown cost", async () => {
  const server = open([aFinding()], { ...PREVIEW, seconds: null, confirm: "the duration is unknown" });
  await userEvent.click(await screen.findByRole("button", { name: "Test this fix" }));
  const start = await screen.findByRole("button", { name: "Start 6 runs" });
  expect(start.hasAttribute("disabled")).toBe(true);
  await userEvent.click(screen.getByRole("checkbox", { name: /Start 6 k steps/ }));
  await userEvent.click(start);
  await waitFor(() => expect(server.of("POST /studies")[0]?.body).toMatchObject({ confirm_steps: 6000 }));
});

it("shows the verdict of a test", async () => {
  const name = "Fix of run 3";
  open([
    aFinding({
      tests: [
        { study_id: 9, name, state: "running", verdict: null },
        { study_id: 8, name, state: "finished", verdict: "0.003 beats 5." },
      ],
    }),
  ]);
  const link = await screen.findByRole("link", { name: "Test in study 8" });
  expect(link.getAttribute("href")).toBe("/studies/8");
  expect(link.parentElement?.textContent).toBe("Test in study 8: 0.003 beats 5.");
  expect(screen.getByRole("link", { name: "Test in study 9" }).parentElement?.textContent).toBe(
    "Test in study 9 is running.",
  );
});

it("offers no test if no setting helps", async () => {
  open([aFinding({ settings: [], test: null })]);
  expect(await screen.findByText("The agent learns nothing.")).toBeTruthy();
  expect(screen.queryByRole("button", { name: "Test this fix" })).toBeNull();
});
