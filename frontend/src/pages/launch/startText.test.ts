import { expect, it } from "vitest";
import { aForecast } from "@/testing/forecasts";
import { startText } from "./LaunchSummary";

const idle = aForecast().capacity;
const busy = { ...idle, idle: 0 };
const NOON = new Date(2026, 0, 1, 12, 0).getTime();
const text = (changes: Parameters<typeof aForecast>[0]) => startText(aForecast(changes), NOON);

it("says that a free worker starts the run immediately", () => {
  expect(text({})).toBe("A CPU worker is free. Training starts immediately.");
});

it("says that no worker is connected", () => {
  const none = { workers: 0, idle: 0, cores: null, memory_bytes: null, devices: [] };
  expect(text({ queue: "gpu", capacity: none, starts_in_seconds: null })).toBe(
    "No GPU worker is connected. Start one to train.",
  );
});

it("names the schedulers if no worker is connected", () => {
  const none = { workers: 0, idle: 0, cores: null, memory_bytes: null, devices: [] };
  expect(startText(aForecast({ capacity: none, starts_in_seconds: null }), NOON, ["Slurm"])).toBe(
    "No CPU worker is connected. Start one to train, or train on Slurm.",
  );
});

it("shows the position in the queue and the expected start", () => {
  expect(text({ capacity: busy, starts_in_seconds: 90 })).toMatch(
    /^Next in the queue: the CPU worker is busy\. Expected start, if nobody adds work ahead: in 1 min 30 s, at .*12:01/,
  );
  expect(text({ capacity: busy, runs_ahead: 2, starts_in_seconds: 200_000 })).toBe(
    "Position 3 in the queue: 2 runs start earlier. Expected start, if nobody adds work ahead: in 2 d 7 h.",
  );
  const limited = { runs_ahead: 1, starts_in_seconds: 200_000, starts_by_seconds: 300_000 };
  expect(text({ capacity: busy, ...limited })).toMatch(
    /: in 2 d 7 h\. In 9 of 10 cases it starts within 3 d 11 h\.$/,
  );
});

it("says why the start is unknown", () => {
  const unknown = { runs_ahead: 1, starts_in_seconds: null, start_unknown: "Run 4 is not measured." };
  expect(text({ capacity: busy, ...unknown })).toBe(
    "Position 2 in the queue: 1 run starts earlier. Start unknown: Run 4 is not measured.",
  );
});

it("leaves the start to the scheduler of the run", () => {
  const decides = "Slurm decides when it starts.";
  expect(text({ executor: "slurm", starts_in_seconds: null, start_unknown: decides })).toBe(decides);
});
