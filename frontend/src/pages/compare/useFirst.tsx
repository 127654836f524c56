import { Button } from "@mantine/core";
import { type ReactNode, useState } from "react";

/** Return the first rows of a long list, and a button that shows the others. */
export function useFirst<Row>(
  rows: readonly Row[],
  count: number,
  noun: string,
): [readonly Row[], ReactNode] {
  const [showsAll, setShowsAll] = useState(false);
  if (rows.length <= count) return [rows, null];
  const button = (
    <Button
      variant="default"
      size="xs"
      mt="xs"
      aria-expanded={showsAll}
      onClick={() => setShowsAll(!showsAll)}
    >
      {showsAll ? "Show fewer" : `Show all ${rows.length} ${noun}`}
    </Button>
  );
  return [showsAll ? rows : rows.slice(0, count), button];
}
