import { expect, it } from "vitest";
import { aPreset } from "@/testing/presets";
import { curlCommand, shellCommand, trainCommand } from "./commands";

const presets = [
  aPreset("paac-pong", { algorithm: "paac", env: "ALE/Pong-v5", seed: 1, clip: true }),
  aPreset("a3c-pong", { algorithm: "a3c", env: "ALE/Pong-v5", seed: 7, clip: false }),
];

it("names the nearest preset of the same method and the changed settings", () => {
  const config = { algorithm: "paac", env: "ALE/Pong-v5", seed: 7, clip: false };
  expect(trainCommand({ id: 3, config }, presets)).toBe(
    "arcadia train --preset paac-pong --set seed=7 --set clip=false --dir runs/like-3",
  );
});

it("falls back to a configuration file if no preset has the method", () => {
  expect(trainCommand({ id: 3, config: { algorithm: "dqn" } }, presets)).toBe(
    "arcadia train config.json --dir runs/like-3",
  );
});

it("quotes words for a shell", () => {
  expect(shellCommand(["a b", "it's", "$HOME", "x=1", ""])).toBe("'a b' 'it'\\''s' '$HOME' x=1 ''");
});

it("posts the whole configuration", () => {
  expect(curlCommand("http://h:8000", { env: "it's" })).toBe(
    `curl http://h:8000/api/v1/runs -H 'Content-Type: application/json' -d '{"config":{"env":"it'\\''s"}}'`,
  );
});
