import { expect, it } from "vitest";
import type { RunChanges } from "@/api/types";
import { aPreset } from "@/testing/presets";
import { curlCommand, rerunCommands, shellCommand, trainCommand } from "./commands";

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

it("starts with the first settings and repeats the changes during training", () => {
  const config = { algorithm: "paac", env: "ALE/Pong-v5", seed: 7, clip: true };
  const change = { number: 1, requested_at: "", requested_by: null, applied_at: "", attempt: 1 };
  const items: RunChanges["items"] = [
    { ...change, fields: { seed: 7, rate: 0.5 }, previous: { seed: 1, rate: 1 }, applied_step: 1200 },
    { ...change, fields: { seed: 9 }, previous: { seed: 7 }, applied_at: null, applied_step: null },
  ];
  expect(trainCommand({ id: 3, config }, presets, { items, start_config: { ...config, seed: 1 } })).toBe(
    "arcadia train --preset paac-pong --change 1200:seed=7 --change 1200:rate=0.5 --dir runs/like-3",
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

it("starts a command again through arcadia run, which logs it", () => {
  const run = {
    origin: "reported",
    reported_key: "k1",
    command: ["python", "train.py", "--seed", "3"],
  } as const;
  const started = { ...run, command: [...run.command] };
  expect(rerunCommands({ ...started, origin_label: "Command" }).map(({ command }) => command)).toEqual([
    "arcadia run -- python train.py --seed 3",
    "arcadia run --id k1 -- python train.py --seed 3",
  ]);
  expect(rerunCommands({ ...started, origin_label: "Python" }).map(({ command }) => command)).toEqual([
    "python train.py --seed 3",
    'arcadia.init(id="k1")',
  ]);
  const imported = { ...started, origin: "imported", origin_label: "CSV" } as const;
  expect(rerunCommands({ ...imported, command: null })).toEqual([]);
});
