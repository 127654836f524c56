import { queryOptions } from "@tanstack/react-query";
import { call } from "./client";
import type { Health, Worker } from "./types";

export const workerKeys = {
  all: ["workers"] as const,
  health: ["health"] as const,
};

export const workersQuery = queryOptions({
  queryKey: workerKeys.all,
  queryFn: ({ signal }): Promise<Worker[]> => call("get", "/api/v1/workers", { signal }),
});

export const healthQuery = queryOptions({
  queryKey: workerKeys.health,
  queryFn: ({ signal }): Promise<Health> => call("get", "/api/v1/health", { signal }),
});
