import { expect, it } from "vitest";
import { findFix, fixHint, fixLabel } from "./fixes";

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

it("has a short label with the titles of settings, and names all of them on hover", () => {
  const titles = new Map([
    ["num_envs", "Environments"],
    ["t_max", "Rollout length"],
  ]);
  expect(fixLabel({ changes: { device: "auto" } }, titles)).toBe("Launch again with device auto");
  expect(fixLabel({ changes: { device: "auto" } }, titles, 1200)).toBe(
    "Launch 1\u202f200 again with device auto",
  );
  expect(fixLabel({ lower: ["num_envs"] }, titles)).toBe("Launch again with lower environments…");
  expect(fixLabel({ lower: ["num_envs", "t_max"] }, titles)).toBe("Launch again with lower settings…");
  expect(fixHint({ lower: ["num_envs", "t_max"] }, titles, { num_envs: 32, t_max: 5 })).toBe(
    "Lower environments (32) or rollout length (5)",
  );
});
