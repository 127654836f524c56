import { Table, Text } from "@mantine/core";
import type { Preset } from "@/api/types";
import { WideTable } from "@/ui/WideTable";

const TITLE = "Differences from paper and code";

/** Table of fields whose values differ between a paper, its code and the preset. */
export function PresetDifferences({ rows }: { rows: Preset["differences"] }) {
  return (
    <details>
      <Text component="summary" size="xs">
        {TITLE} ({rows.length} {rows.length === 1 ? "field" : "fields"})
      </Text>
      <WideTable label={TITLE}>
        <Table fz="xs" verticalSpacing={4} horizontalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              {["Field", "Paper", "Code", "Here", "Why"].map((head) => (
                <Table.Th key={head} scope="col">
                  {head}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ field, title, paper, code, ours, why }) => (
              <Table.Tr key={field}>
                <Table.Th scope="row">{title}</Table.Th>
                <Table.Td>{paper || "not stated"}</Table.Td>
                <Table.Td>{code || "not stated"}</Table.Td>
                <Table.Td>{ours}</Table.Td>
                <Table.Td>{why}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </WideTable>
    </details>
  );
}
