import type { Worker } from "@/api/types";

/** An idle worker for the CPU queue. */
export function aWorker(name: string, changes: Partial<Worker> = {}): Worker {
  return {
    name,
    host: "sun",
    host_name: "",
    pid: 42,
    version: "1.0",
    is_other_build: false,
    queue: "cpu",
    executor: "workers",
    state: "idle",
    desired: "work",
    may_edit: true,
    device: "cpu",
    cores: 8,
    memory_bytes: 16 * 2 ** 30,
    low_disk_megabytes: null,
    run_id: null,
    job_slots: 1,
    last_seen_at: "2026-01-01T10:00:00Z",
    plugins: [],
    gpus: [],
    labels: [],
    ...changes,
  };
}
