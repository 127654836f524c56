import { vi } from "vitest";
import type { ListedRun } from "@/api/types";
import { CATALOG } from "./catalog";
import { aPreset } from "./presets";
import { aRun, runListOf } from "./runs";
import { type Asked, serve } from "./server";
import { aWorker } from "./workers";

const CARTPOLE = aPreset(
  "paac-cartpole",
  { algorithm: "paac", env: "CartPole-v1", total_steps: 1_000_000, num_envs: 16 },
  { title: "PAAC learns CartPole in a minute" },
);

/** Serve these runs for the page that lists them. */
export function openRuns(
  { runs = [] as ListedRun[], workers = [aWorker("cpu-1")] } = {},
  more: Record<string, object> = {},
) {
  return serve({
    "GET /runs": ({ query }: Asked) => runListOf(runs, { include: query.getAll("include") }),
    "POST /runs": aRun({ id: 9 }),
    "GET /presets": [CARTPOLE],
    "GET /environments": [],
    "GET /workers": workers,
    "GET /health": { broker: { ok: true, detail: "answers" } },
    "GET /metric-catalog": CATALOG,
    "GET /metric-names": [],
    "GET /run-facets": { state: [], algorithm: [], env: [], tag: [] },
    "GET /run-failures": [],
    "GET /views": [],
    "GET /run-settings": { examined: runs.length, settings: [] },
    "GET /config-schema": { oneOf: [] },
    ...more,
  });
}

/** Make the window as narrow as a phone. */
export function narrowScreen() {
  vi.spyOn(window, "matchMedia").mockImplementation(
    (media) =>
      ({
        media,
        matches: media.includes("max-width"),
        addEventListener: () => undefined,
        removeEventListener: () => undefined,
      }) as unknown as MediaQueryList,
  );
}
