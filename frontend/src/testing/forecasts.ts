import type { RunForecast } from "@/api/types";

/** The forecast of a run on an idle CPU worker, without a measurement. */
export function aForecast(changes: Partial<RunForecast> = {}): RunForecast {
  return {
    queue: "cpu",
    executor: "workers",
    measured_runs: 0,
    measured_on: null,
    steps_per_second: null,
    startup_seconds: null,
    seconds: null,
    memory_bytes: null,
    cores: null,
    gpu_memory_bytes: null,
    capacity: { workers: 1, idle: 1, cores: 2, memory_bytes: 8 * 2 ** 30, devices: ["cpu"] },
    runs_ahead: 0,
    starts_in_seconds: 0,
    starts_by_seconds: null,
    start_unknown: null,
    warnings: [],
    ...changes,
  };
}
