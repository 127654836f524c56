import { queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import type { AllowedPlugin, Health, Worker } from "./types";

export const workerKeys = {
  all: ["workers"] as const,
  health: ["health"] as const,
  plugins: ["plugins"] as const,
};

export const workersQuery = queryOptions({
  queryKey: workerKeys.all,
  queryFn: ({ signal }): Promise<Worker[]> => call("get", "/api/v1/workers", { signal }),
});

export const pluginsQuery = queryOptions({
  queryKey: workerKeys.plugins,
  queryFn: ({ signal }): Promise<AllowedPlugin[]> => call("get", "/api/v1/plugins", { signal }),
});

export const healthQuery = queryOptions({
  queryKey: workerKeys.health,
  queryFn: ({ signal }): Promise<Health> => call("get", "/api/v1/health", { signal }),
});
