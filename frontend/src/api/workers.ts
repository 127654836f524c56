import { apiQuery } from "./requests";
import { live, ofAny } from "./topics";

export const workerKeys = {
  all: ["workers"] as const,
  health: ["health"] as const,
  plugins: ["plugins"] as const,
};

const WORKERS = live(ofAny("worker.changed"));

export const workersQuery = apiQuery(workerKeys.all, "/api/v1/workers", {}, WORKERS);

export const pluginsQuery = apiQuery(workerKeys.plugins, "/api/v1/plugins");

export const healthQuery = apiQuery(workerKeys.health, "/api/v1/health", {}, WORKERS);
