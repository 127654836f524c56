import { Group, Switch, Table, Text, Title } from "@mantine/core";
import { useState } from "react";
import type { Comparison } from "@/api/types";
import { shown } from "@/pages/launch/draft";
import { plural } from "@/ui/format";
import classes from "./compare.module.css";
import { RunHead } from "./RunHead";

/** The runs' configurations beside one another. */
export function Differences({ comparison }: { comparison: Comparison }) {
  const [all, setAll] = useState(false);
  const { runs, differences } = comparison;
  const differing = differences.filter((row) => !row.same);
  const rows = all ? differences : differing;
  return (
    <section className={classes.card} aria-label="Differences of the configurations">
      <Group justify="space-between" mb="xs">
        <Title order={2}>Configuration</Title>
        <Switch
          size="xs"
          label={`Show the ${plural(differences.length - differing.length, "setting")} that are the same`}
          checked={all}
          onChange={(event) => setAll(event.currentTarget.checked)}
        />
      </Group>
      {rows.length === 0 ? (
        <Text size="sm" c="dimmed">
          {runs.length === 1
            ? "Add another run to see what differs."
            : "These runs have the same configuration."}
        </Text>
      ) : (
        <Table.ScrollContainer minWidth={0} tabIndex={0}>
          <Table verticalSpacing={6}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th className={classes.firstColumn}>Setting</Table.Th>
                {runs.map((run) => (
                  <Table.Th key={run.id}>
                    <RunHead run={run} />
                  </Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.map((row) => (
                <Table.Tr key={row.field} className={row.same ? undefined : classes.differs}>
                  <Table.Th scope="row" fw={400} title={row.field} className={classes.firstColumn}>
                    {row.title}
                  </Table.Th>
                  {runs.map((run) => (
                    <Table.Td key={run.id}>
                      {String(run.id) in row.values ? shown(row.values[String(run.id)]) : "–"}
                    </Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </section>
  );
}
