import { describe, expect, it } from "vitest";
import { aRun } from "@/testing/runs";
import { refusal, sortOut } from "./runActions";

describe("refusal", () => {
  it("lets what is active be stopped, also from the queue or from a pause", () => {
    for (const state of ["queued", "starting", "running", "paused"] as const)
      expect(refusal(aRun({ state }), "stop")).toBeNull();
  });

  it("says why an ended run cannot be stopped", () => {
    expect(refusal(aRun({ state: "finished" }), "stop")).toBe("it is finished");
  });

  it("does not ask a stopping run to stop again", () => {
    expect(refusal(aRun({ desired: "stop" }), "stop")).toBe("it is stopping");
  });

  it("resumes what is paused or about to pause, and nothing else", () => {
    expect(refusal(aRun({ state: "paused", desired: "pause" }), "resume")).toBeNull();
    expect(refusal(aRun({ desired: "pause" }), "resume")).toBeNull();
    expect(refusal(aRun(), "resume")).toBe("it is running");
    expect(refusal(aRun({ state: "stopped", desired: "stop" }), "resume")).toBe("it is stopped");
  });

  it("never purges or archives a run that trains", () => {
    expect(refusal(aRun(), "purge")).toBe("it is running: stop it first");
    expect(refusal(aRun(), "archive")).toBe("it is running: stop it first");
    expect(refusal(aRun({ state: "failed" }), "purge")).toBeNull();
  });
});

it("sorts runs into touched and skipped with reasons", () => {
  const running = aRun({ id: 1 });
  const failed = aRun({ id: 2, state: "failed" });
  expect(sortOut([running, failed], "pause")).toEqual({
    touched: [running],
    skipped: [{ run: failed, reason: "it is failed" }],
  });
});
