import { call } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import { live, ofAny } from "./topics";
import type { Worker } from "./types";

export const workerKeys = {
  all: ["workers"] as const,
  health: ["health"] as const,
  plugins: ["plugins"] as const,
};

const WORKERS = live(ofAny("worker.changed"));

export const workersQuery = apiQuery(workerKeys.all, "/api/v1/workers", {}, WORKERS);

const path = (name: string) => ({ params: { path: { name } } });

/** Let a worker work, pause after its work, or drain, which gives its work back. Or change the labels of its host. */
export const useEditWorker = (name: string) =>
  useApiMutation(
    (changes: { desired?: Worker["desired"]; labels?: string[]; host_name?: string }) =>
      call("patch", "/api/v1/workers/{name}", { ...path(name), body: changes }),
    { refetch: [workerKeys.all] },
  );

export const useRemoveWorker = (name: string) =>
  useApiMutation(() => call("delete", "/api/v1/workers/{name}", path(name)), { refetch: [workerKeys.all] });

/** Create a code with which a host joins this server. */
export const useCreateHostCode = () => useApiMutation(() => call("post", "/api/v1/host-codes", {}), {});

export const pluginsQuery = apiQuery(workerKeys.plugins, "/api/v1/plugins");

export const healthQuery = apiQuery(workerKeys.health, "/api/v1/health", {}, WORKERS);

/** Forecasts of starts of the last days, compared with what happened. */
export const startForecastsQuery = (days: number) =>
  apiQuery(["start-forecasts", days], "/api/v1/start-forecasts", { query: { days } }, { staleTime: 60_000 });
