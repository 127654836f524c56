import { describe, expect, it } from "vitest";
import { aRun } from "@/testing/runs";
import { isActive, isState, stateName } from "./states";

describe("the state of a run", () => {
  it("shows a pending action until it is done", () => {
    expect(stateName(aRun({ desired: "stop" }))).toBe("Stopping");
    expect(stateName(aRun({ state: "queued", desired: "pause" }))).toBe("Pausing");
    expect(stateName(aRun({ state: "stopped", desired: "stop" }))).toBe("Stopped");
    expect(stateName(aRun({ state: "paused", desired: "pause" }))).toBe("Paused");
  });

  it("is active from queued until the end", () => {
    const active = (
      ["queued", "starting", "running", "paused", "stopped", "finished", "failed"] as const
    ).filter((state) => isActive({ state }));
    expect(active).toEqual(["queued", "starting", "running"]);
  });

  it("is not a property name of every object", () => {
    expect(["running", "sleeping", "toString"].filter(isState)).toEqual(["running"]);
  });
});
