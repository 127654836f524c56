import { apiQuery } from "./requests";

export const workerKeys = {
  all: ["workers"] as const,
  health: ["health"] as const,
  plugins: ["plugins"] as const,
};

export const workersQuery = apiQuery(workerKeys.all, "/api/v1/workers");

export const pluginsQuery = apiQuery(workerKeys.plugins, "/api/v1/plugins");

export const healthQuery = apiQuery(workerKeys.health, "/api/v1/health");
