import type { Run } from "@/api/types";
import { type FormField, variantFor } from "./schema";
import { useVariants } from "./useVariants";

/** Return the configuration fields of a run's method. Empty until the schema is loaded. */
export function useConfigFields(run: Pick<Run, "algorithm">): FormField[] {
  return variantFor(useVariants().variants, run.algorithm)?.fields ?? [];
}
