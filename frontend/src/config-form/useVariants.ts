import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { configSchemaQuery } from "@/api/configuration";
import { type JsonSchema, variantsOf } from "./schema";

/** The methods with their fields, none until the schema is there, and the query that brings it. */
export function useVariants() {
  const schema = useQuery(configSchemaQuery);
  const variants = useMemo(() => (schema.data ? variantsOf(schema.data as JsonSchema) : []), [schema.data]);
  return { schema, variants };
}
