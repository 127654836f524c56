import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import type { SubmissionOfRun } from "@/api/types";
import { renderPage } from "@/testing/render";
import { aRun } from "@/testing/runs";
import { serve } from "@/testing/server";
import { SubmissionCard } from "./SubmissionCard";

const JOB: SubmissionOfRun = {
  executor: "slurm",
  handle: "42",
  state: "waiting",
  scheduler_state: "PENDING",
  reason: "Resources",
  host: null,
  place: 3,
  submitted_at: "2026-01-01T10:00:00Z",
  unknown_since: null,
  ended_at: null,
  core_seconds: null,
  gpu_seconds: null,
  task: null,
  cores: null,
  gpus: null,
  started_at: null,
};

const open = (job: Partial<SubmissionOfRun>, output = "") => {
  const run = aRun({ id: 7, state: "queued", executor: "slurm" });
  serve({ "GET /runs/7/job-output": { output } });
  return renderPage(<SubmissionCard run={run} job={{ ...JOB, ...job }} />);
};

const fact = (name: string) => screen.getByText(name).nextElementSibling?.textContent;

describe("the card of a run's job", () => {
  it("shows the scheduler's reason, the job and its place", async () => {
    open({});
    expect(await screen.findByRole("heading", { name: "Slurm job" })).toBeTruthy();
    expect([fact("Job"), fact("State"), fact("Reason"), fact("Place")]).toEqual([
      "42",
      "PENDING",
      "Resources",
      "3",
    ]);
    expect(screen.queryByText("End of its output")).toBeNull();
  });

  it("shows the output before the first heartbeat", async () => {
    open({ state: "running", scheduler_state: "RUNNING", host: "n1", reason: null }, "module not found");
    expect(await screen.findByText("module not found")).toBeTruthy();
    expect(fact("Node")).toBe("n1");
  });

  it("shows the task of an array, and its core time with that of earlier jobs", () => {
    const run = aRun({ id: 7, state: "finished", executor: "slurm", core_hours: 3 });
    serve({ "GET /runs/7/job-output": { output: "" } });
    expect(screen.queryByText("Options")).toBeNull();
    const used = {
      started_at: "2026-01-01T10:00:00Z",
      ended_at: "2026-01-01T11:00:00Z",
      core_seconds: 7_200,
    };
    renderPage(
      <SubmissionCard run={run} job={{ ...JOB, ...used, handle: "42_3", task: 3, gpu_seconds: 0 }} />,
    );
    expect(fact("Job")).toBe("42_3, task 3 of an array");
    expect(fact("Core time")).toBe("2 h, 3 h with earlier jobs");
    expect(screen.queryByText("GPU time")).toBeNull();
  });

  it("says that a job is unknown, or not ended yet", () => {
    open({ unknown_since: "2026-01-01T10:00:00Z" }).unmount();
    open({ unknown_since: "2026-01-01T10:00:00Z" });
    expect(fact("State")).toBe("Unknown, last PENDING");
    open({ state: "cancelling", scheduler_state: "RUNNING" });
    expect(screen.getByText("Being cancelled, still RUNNING")).toBeTruthy();
  });
});
