import type { AttemptSummary, Provenance, RunProvenance } from "@/api/types";

export function aProvenance(changes: Partial<Provenance> = {}): Provenance {
  return {
    build: "0.1.0+3f4a75ab5123-dirty",
    checkout: {
      commit: "3f4a75ab5123aa0c1d2e3f4a75ab5123aa0c1d2e",
      branch: "main",
      dirty: true,
      diff_cut: false,
      untracked: ["notes.txt"],
    },
    problem: null,
    python: "3.11.9",
    host: "sun",
    os: "Debian GNU/Linux 12 (Linux 6.1.0, x86_64)",
    cpu: "AMD EPYC 9554",
    cores: 2,
    memory_bytes: 8 * 2 ** 30,
    gpus: [],
    driver: null,
    cuda: null,
    command: ["python", "-m", "arcadia_workers.trainer", "--dir", "a b"],
    environment: { OMP_NUM_THREADS: "2" },
    packages: { numpy: "2.3.1", torch: "2.13.0", torchvision: "0.28.0" },
    diff: "--- a/paac.py\n+++ b/paac.py\n@@ -1 +1 @@\n-rate = 1\n+rate = 2\n",
    ...changes,
  };
}

export const anAttempt = (attempt: number, changes: string[] = [], recorded = true): AttemptSummary => ({
  attempt,
  worker: "w1",
  claimed_at: "2026-01-01T10:00:00Z",
  recorded,
  changes,
});

/** The provenance of the only attempt of a run. */
export function aRunProvenance(changes: Partial<Provenance> = {}): RunProvenance {
  return { attempt: 1, provenance: aProvenance(changes), attempts: [anAttempt(1)] };
}
