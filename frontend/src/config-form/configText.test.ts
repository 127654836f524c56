import { expect, it } from "vitest";
import { configText } from "./configText";

const values = {
  env: "ALE/Pong-v5",
  total_steps: 10_000_000,
  rate: 1e-7,
  clip: true,
  eps: [0.1, 5e-8],
  limit: null,
};

it("writes one setting per line", () => {
  expect(configText(values, "yaml")).toBe(
    'env: "ALE/Pong-v5"\ntotal_steps: 10000000\nrate: 1.0e-7\nclip: true\neps: [0.1, 5.0e-8]\nlimit: null\n',
  );
  expect(configText(values, "toml")).toBe(
    'env = "ALE/Pong-v5"\ntotal_steps = 10000000\nrate = 1.0e-7\nclip = true\neps = [0.1, 5.0e-8]\n',
  );
  expect(JSON.parse(configText(values, "json"))).toEqual(values);
});
