import { useMemo } from "react";
import { useVariants } from "./useVariants";

/** Return the titles of all settings of all methods, by field. */
export function useSettingTitles(): ReadonlyMap<string, string> {
  const { variants } = useVariants();
  return useMemo(
    () => new Map(variants.flatMap(({ fields }) => fields.map(({ name, title }) => [name, title] as const))),
    [variants],
  );
}
