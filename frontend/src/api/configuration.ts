import { queryOptions, useQuery } from "@tanstack/react-query";
import { call } from "./client";
import { apiQuery, useApiMutation } from "./requests";
import type { EnvironmentFamily, Preset, RunConfig } from "./types";

export const configurationKeys = {
  schema: ["config-schema"] as const,
  presets: ["presets"] as const,
  environments: ["environments"] as const,
};

export const configSchemaQuery = apiQuery(
  configurationKeys.schema,
  "/api/v1/config-schema",
  {},
  { staleTime: Infinity },
);

export const presetsQuery = queryOptions({
  queryKey: configurationKeys.presets,
  queryFn: ({ signal }): Promise<Preset[]> => call("get", "/api/v1/presets", { signal }),
  staleTime: Infinity,
});

export const environmentsQuery = apiQuery(
  configurationKeys.environments,
  "/api/v1/environments",
  {},
  { staleTime: Infinity },
);

/** Parse settings in YAML, TOML or JSON. `base` has the values of those that the text leaves out. */
export function useParseConfig() {
  return useApiMutation(
    (body: { text: string; base: RunConfig }) => call("post", "/api/v1/configurations/parse", { body }),
    { ownErrors: true },
  );
}

/** Return the family of an environment, or undefined while it loads. */
export function useEnvironmentFamily(env: string): EnvironmentFamily | undefined {
  const { data: environments } = useQuery(environmentsQuery);
  return environments?.find(({ id }) => id === env)?.family;
}
