import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { configSchemaQuery } from "@/api/configuration";
import { type JsonSchema, variantsOf } from "./schema";

/** Return the methods with their fields, and the schema query. Empty until the schema is loaded. */
export function useVariants() {
  const schema = useQuery(configSchemaQuery);
  const variants = useMemo(() => (schema.data ? variantsOf(schema.data as JsonSchema) : []), [schema.data]);
  return { schema, variants };
}
