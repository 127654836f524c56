import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { configSchemaQuery } from "@/api/queries";
import type { Run } from "@/api/types";
import { type FormField, type JsonSchema, type Variant, variantFor, variantsOf } from "@/pages/launch/schema";

function useVariants(): Variant[] {
  const { data } = useQuery(configSchemaQuery);
  return useMemo(() => (data ? variantsOf(data as JsonSchema) : []), [data]);
}

/** The fields of a run's configuration with their titles and defaults; empty until the schema is there. */
export function useConfigFields(run: Pick<Run, "algorithm">): FormField[] {
  return variantFor(useVariants(), run.algorithm)?.fields ?? [];
}
