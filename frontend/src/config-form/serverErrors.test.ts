import { expect, it } from "vitest";
import { ApiError } from "@/api/problem";
import { placeErrors } from "./serverErrors";

it("assigns errors to their fields and shows the others above the form", () => {
  const errors = [
    { field: "config.num_envs", message: "too many" },
    { field: "overrides.env", message: "unknown" },
    { field: "config.final_epsilons.1", message: "input should be at most 1" },
    { field: "config", message: "network mlp reads vectors" },
    { field: "", message: "no body." },
    { field: "preset", message: "no such preset" },
  ];
  expect(placeErrors(new ApiError(422, { errors }), ["num_envs", "env", "final_epsilons"])).toEqual({
    byField: { num_envs: "Too many.", env: "Unknown.", final_epsilons: "Input should be at most 1." },
    general: ["Network mlp reads vectors.", "No body.", "preset: no such preset"],
  });
});

it("shows an error without a field above the form", () => {
  const busy = new ApiError(409, { detail: "The checkpoint is gone." });
  expect(placeErrors(busy, ["env"])).toEqual({ byField: {}, general: ["The checkpoint is gone."] });
});
