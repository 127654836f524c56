import { expect, it } from "vitest";
import { aRun } from "@/testing/runs";
import { splitByEligibility } from "./eligibility";

it("skips runs that do not allow the action, with the reason", () => {
  const running = aRun({ id: 1 });
  const failed = aRun({ id: 2, state: "failed", actions: { pause: "Run 2 has failed." } });
  expect(splitByEligibility([running, failed], "pause")).toEqual({
    eligible: [running],
    skipped: [{ run: failed, reason: "Run 2 has failed." }],
  });
});
