/** LaTeX formulas as MathML. Temml is loaded when a formula first appears. */

import { queryOptions } from "@tanstack/react-query";
import { importWithRetries } from "./loadCode";
import type { Typeset } from "./markdownHtml";

export const formulasQuery = queryOptions({
  queryKey: ["code", "temml"],
  queryFn: async (): Promise<Typeset> => {
    const { default: temml } = await importWithRetries(() => import("temml"));
    return (latex, display) => {
      try {
        const options = { displayMode: display, throwOnError: true, maxSize: [25, 25] as [number, number] };
        return temml.renderToString(latex, options);
      } catch {
        return null; // Show the source instead.
      }
    };
  },
  staleTime: Infinity,
  gcTime: Infinity,
});
