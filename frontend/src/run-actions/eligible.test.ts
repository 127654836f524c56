import { expect, it } from "vitest";
import { aRun } from "@/testing/runs";
import { sortOut } from "./eligible";

it("skips the runs that the server refuses the action for, each with its reason", () => {
  const running = aRun({ id: 1 });
  const failed = aRun({ id: 2, state: "failed", actions: { pause: "Run 2 has failed." } });
  expect(sortOut([running, failed], "pause")).toEqual({
    touched: [running],
    skipped: [{ run: failed, reason: "Run 2 has failed." }],
  });
});
