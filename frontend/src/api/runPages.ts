import type { components } from "./schema";
import type { ListedRun, RunPage } from "./types";
import { readAs } from "./versions";

type Schema = components["schemas"];

/** Fields of a listed run that the server leaves out if they are null or empty. */
const EMPTY = {
  origin_label: null,
  queue: null,
  tags: [] as string[],
  parent: null,
  started_at: null,
  finished_at: null,
  archived_at: null,
  state_reason: null,
  failure: null,
  worker: null,
  launched_by: null,
  total_steps: null,
  steps_per_second: null,
  seconds_left: null,
  last_return: null,
  best_return: null,
  poster_file_id: null,
  unsupported_because: null,
};

/** Return a page with every field of each run, and with the actions that its runs share. */
export const readRunPage = readAs(({ items, actions, total, next_cursor }: Schema["RunPage"]): RunPage => ({
  items: items.map((run) => readListedRun(run, actions)),
  total,
  next_cursor,
}));

function readListedRun(
  { config, notes, ...run }: Schema["ListedRun"],
  actions: Schema["RunActions"][],
): ListedRun {
  const own = actions[run.actions];
  if (!own) throw new Error(`The server did not send the actions of run ${run.id}.`);
  return {
    ...EMPTY,
    ...run,
    ...(config && { config: config as ListedRun["config"] }),
    ...(notes != null && { notes }),
    actions: own,
  };
}
