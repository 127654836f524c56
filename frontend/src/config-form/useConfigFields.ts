import type { Run } from "@/api/types";
import { type FormField, variantFor } from "./schema";
import { useVariants } from "./useVariants";

/** The fields of a run's configuration with their titles and defaults; empty until the schema is there. */
export function useConfigFields(run: Pick<Run, "algorithm">): FormField[] {
  return variantFor(useVariants().variants, run.algorithm)?.fields ?? [];
}
