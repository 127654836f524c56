import { queryOptions, useMutation, useQuery } from "@tanstack/react-query";
import { call } from "./client";
import { OWN_ERRORS } from "./mutationState";
import type { Environment, EnvironmentFamily, ParsedConfig, Preset, RunConfig } from "./types";

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

/** Parse settings in YAML, TOML or JSON. `base` has the values of those that the text leaves out. */
export function useParseConfig() {
  return useMutation({
    mutationFn: (body: { text: string; base: RunConfig }): Promise<ParsedConfig> =>
      call("post", "/api/v1/configurations/parse", { body }),
    meta: OWN_ERRORS,
  });
}

/** Return the family of an environment, or undefined while it loads. */
export function useEnvironmentFamily(env: string): EnvironmentFamily | undefined {
  const { data: environments } = useQuery(environmentsQuery);
  return environments?.find(({ id }) => id === env)?.family;
}
