import { Text } from "@mantine/core";
import type { Preset } from "@/api/types";
import { DataTable } from "@/ui/DataTable";

const TITLE = "Differences from paper and code";

/** Table of fields whose values differ between a paper, its code and the preset. */
export function PresetDifferences({ rows }: { rows: Preset["differences"] }) {
  return (
    <details>
      <Text component="summary" size="xs">
        {TITLE} ({rows.length} {rows.length === 1 ? "field" : "fields"})
      </Text>
      <DataTable
        label={TITLE}
        fz="xs"
        verticalSpacing={4}
        horizontalSpacing="xs"
        rows={rows}
        rowKey={({ field }) => field}
        columns={[
          {
            title: "Field",
            isRowHeader: true,
            cell: ({ title }) => title,
            cellProps: () => ({ fw: "bold" }),
          },
          { title: "Paper", cell: ({ paper }) => paper || "not stated" },
          { title: "Code", cell: ({ code }) => code || "not stated" },
          { title: "Here", cell: ({ ours }) => ours },
          { title: "Why", cell: ({ why }) => why },
        ]}
      />
    </details>
  );
}
