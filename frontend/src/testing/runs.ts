import type { ListedRun, RolePlace, Run } from "@/api/types";

type Changes = Partial<Omit<Run, "actions">> & { actions?: Partial<Run["actions"]> };

/** A running run with plausible numbers. */
export function aRun({ actions, ...changes }: Changes = {}): Run {
  return {
    id: 1,
    name: "pong-1",
    state: "running",
    desired: "run",
    origin: "trained",
    origin_label: null,
    reported_key: null,
    project: "Main",
    algorithm: "paac",
    method: "PAAC",
    env: "ALE/Pong-v5",
    queue: "cpu",
    attempt: 1,
    priority: 0,
    tags: [],
    notes: "",
    config: { algorithm: "paac", env: "ALE/Pong-v5", total_steps: 1_000_000, num_envs: 32 },
    parent: null,
    study: null,
    created_at: "2026-01-01T10:00:00Z",
    started_at: "2026-01-01T10:00:02Z",
    finished_at: null,
    archived_at: null,
    state_reason: null,
    failure: null,
    worker: "cpu-1",
    launched_by: null,
    changed_by: null,
    stopped_by: null,
    step: 250_000,
    frames: 1_000_000,
    total_steps: 1_000_000,
    steps_per_second: 4100,
    seconds_left: 183,
    trained_seconds: 420,
    last_return: -12.5,
    best_return: -10,
    episodes: 80,
    poster_file_id: null,
    versions: null,
    command: null,
    color: "#3451b2",
    actions: {
      stop: null,
      pause: null,
      resume: "This run is already running.",
      archive: "This run is still running. Stop or pause it first.",
      restore: "This run is not archived.",
      purge: "This run is still running. Stop or pause it first.",
      play: null,
      download: null,
      change: null,
      edit: null,
      ...actions,
    },
    unsupported_because: null,
    roles: [],
    start_steps: [],
    executor: "workers",
    job_options: [],
    needs: { labels: [] },
    interruptible: false,
    interruptions: 0,
    core_hours: null,
    gpu_hours: null,
    submission: null,
    warnings: [],
    ...changes,
  };
}

/** A finished run. It can be archived and purged, but not paused or stopped. */
export function aFinishedRun(changes: Changes = {}): Run {
  const over = "This run has already finished.";
  const actions = { stop: over, pause: over, resume: over, archive: null, purge: null, ...changes.actions };
  const finished_at = "2026-01-01T11:30:02Z";
  return aRun({ state: "finished", finished_at, step: 1_000_000, seconds_left: null, ...changes, actions });
}

/** A running run that a script logs, without a known total. */
export function aReportedRun(changes: Changes = {}): Run {
  return aRun({
    name: "lander",
    origin: "reported",
    origin_label: "Python",
    reported_key: "key-1",
    algorithm: "PPO",
    method: "PPO",
    env: "LunarLander-v3",
    queue: null,
    worker: null,
    config: { lr: 0.0003 },
    total_steps: null,
    steps_per_second: null,
    seconds_left: null,
    ...changes,
  });
}

/** Roles of one kind on one host. */
export function rolesOn(
  host: string,
  kind: RolePlace["kind"],
  numbers: readonly number[],
  times_lost = 0,
): RolePlace[] {
  return numbers.map((number) => ({ kind, number, host, times_lost }));
}

/** Fields of a run that lists leave out. */
const UNLISTED =
  "config reported_key notes study trained_seconds versions command roles start_steps warnings".split(" ");
const isEmpty = (value: unknown) => value === null || (Array.isArray(value) && value.length === 0);

interface ListOptions {
  total?: number;
  next_cursor?: string | null;
  /** Settings to include, as the API names them: config.seed. */
  include?: string[];
}

/** Return a page of the run list as the server sends it: without empty fields, and with each set of actions once. */
export function runListOf(
  runs: readonly ListedRun[],
  { total = runs.length, next_cursor = null, include = [] }: ListOptions = {},
) {
  const actions = [...new Set(runs.map((run) => JSON.stringify(run.actions)))];
  const items = runs.map((run) => {
    const listed = Object.entries(run).filter(([name, value]) => !UNLISTED.includes(name) && !isEmpty(value));
    const settings = Object.entries(run.config ?? {}).filter(([name]) => include.includes(`config.${name}`));
    return {
      ...Object.fromEntries(listed),
      ...(include.length > 0 && { config: Object.fromEntries(settings) }),
      actions: actions.indexOf(JSON.stringify(run.actions)),
    };
  });
  return { items, actions: actions.map((set): unknown => JSON.parse(set)), total, next_cursor };
}
