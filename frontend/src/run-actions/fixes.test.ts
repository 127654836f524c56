import { expect, it } from "vitest";
import { findFix, fixLabel } from "./fixes";

const failed = (message: string, config: Record<string, string | number>) => findFix(message, config);

it("changes the device if the requested GPU is missing", () => {
  const message = "device is cuda, but this machine has no GPU that torch can use: choose auto or cpu";
  expect(failed(message, { device: "cuda" })).toEqual({ changes: { device: "auto" } });
  expect(failed(message, { device: "cpu" })).toBeNull();
});

it("names the fields to lower if memory is short", () => {
  const config = { num_envs: 32, t_max: 5, gamma: 0.9, device: "cuda" };
  expect(failed("needs 90 GiB of memory: lower num_envs", config)).toEqual({ lower: ["num_envs"] });
  expect(failed("CUDA out of memory.", config)).toEqual({ lower: ["num_envs", "t_max"] });
  expect(failed("MemoryError: ", { gamma: 0.9 })).toBeNull();
});

it("names the fields that limit an update if the run diverged", () => {
  const message = "The run has diverged: at step 44 some weights of its network are NaN or infinite";
  const config = { learning_rate: 0.1, max_grad_norm: 40, gamma: 0.9 };
  expect(failed(message, config)).toEqual({ lower: ["learning_rate", "max_grad_norm"] });
});

it("has no fix for a bug", () => {
  expect(failed("ValueError: shapes differ", { device: "cuda", num_envs: 32 })).toBeNull();
});

it("has a label with the settings", () => {
  expect(fixLabel({ changes: { device: "auto" } }, {})).toBe("Launch again with device auto");
  expect(fixLabel({ changes: { device: "auto" } }, {}, 12)).toBe("Launch 12 again with device auto");
  const config = { num_envs: 32, t_max: 5 };
  expect(fixLabel({ lower: ["num_envs", "t_max"] }, config)).toBe(
    "Launch again with lower num_envs (32) or t_max (5)…",
  );
});
