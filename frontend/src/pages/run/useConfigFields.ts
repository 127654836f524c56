import type { Run } from "@/api/types";
import { type FormField, variantFor } from "@/pages/launch/schema";
import { useVariants } from "@/pages/launch/useVariants";

/** The fields of a run's configuration with their titles and defaults; empty until the schema is there. */
export function useConfigFields(run: Pick<Run, "algorithm">): FormField[] {
  return variantFor(useVariants().variants, run.algorithm)?.fields ?? [];
}
