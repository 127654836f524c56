import { queryOptions, useQuery } from "@tanstack/react-query";
import { call } from "./client";
import type { Environment, EnvironmentFamily, Preset } from "./types";

export const configurationKeys = {
  schema: ["config-schema"] as const,
  presets: ["presets"] as const,
  environments: ["environments"] as const,
};

export const configSchemaQuery = queryOptions({
  queryKey: configurationKeys.schema,
  queryFn: ({ signal }): Promise<Record<string, unknown>> => call("get", "/api/v1/config-schema", { signal }),
  staleTime: Infinity,
});

export const presetsQuery = queryOptions({
  queryKey: configurationKeys.presets,
  queryFn: ({ signal }): Promise<Preset[]> => call("get", "/api/v1/presets", { signal }),
  staleTime: Infinity,
});

export const environmentsQuery = queryOptions({
  queryKey: configurationKeys.environments,
  queryFn: ({ signal }): Promise<Environment[]> => call("get", "/api/v1/environments", { signal }),
  staleTime: Infinity,
});

/** Return the family of an environment, or undefined while it loads. */
export function useEnvironmentFamily(env: string): EnvironmentFamily | undefined {
  const { data: environments } = useQuery(environmentsQuery);
  return environments?.find(({ id }) => id === env)?.family;
}
