import { Anchor, Button, Group, Table, Text, Title } from "@mantine/core";
import { Link } from "react-router";
import type { PaperItem } from "@/api/types";
import { saveCsv } from "@/charts/csv";
import { exact, nearestPercent, plural } from "@/ui/format";
import { TimeAgo } from "@/ui/Quantity";
import { WideTable } from "@/ui/WideTable";
import classes from "./papers.module.css";

/** Our values next to the paper's as text, for items without a chart. */
export function SideBySideTable({ item: { table } }: { item: PaperItem }) {
  if (!table) return null;
  return (
    <WideTable label={table.title} className={classes.card}>
      <Title order={2}>{table.title}</Title>
      <Table className={classes.table} verticalSpacing={6} mt="xs">
        <Table.Thead>
          <Table.Tr>
            {table.columns.map((column) => (
              <Table.Th key={column} scope="col">
                {column}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {table.rows.map((row) => (
            <Table.Tr key={row[0]}>
              {row.map((cell, place) => (
                <Table.Td key={table.columns[place]}>{cell}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      <p className={classes.dim}>{table.note}</p>
    </WideTable>
  );
}

/** Differences from the paper, with reasons. */
export function Differences({ item }: { item: PaperItem }) {
  const rows = [
    ...item.differs.map(({ what, theirs, ours, why }) => ({ what, theirs, code: "", ours, why })),
    ...item.settings.map(({ field, paper, code, ours, why }) => ({
      what: field,
      theirs: paper,
      code,
      ours,
      why,
    })),
  ];
  if (rows.length === 0) return null;
  return (
    <WideTable label="Differences" className={classes.card}>
      <Title order={2}>Differences from the paper</Title>
      <Table className={classes.table} verticalSpacing={6} mt="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th scope="col">Setting</Table.Th>
            <Table.Th scope="col">The paper</Table.Th>
            <Table.Th scope="col">Its code</Table.Th>
            <Table.Th scope="col">Ours</Table.Th>
            <Table.Th scope="col">Why</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ what, theirs, code, ours, why }) => (
            <Table.Tr key={what}>
              <Table.Td>{what}</Table.Td>
              <Table.Td>{theirs || "not stated"}</Table.Td>
              <Table.Td>{code || "–"}</Table.Td>
              <Table.Td>{ours}</Table.Td>
              <Table.Td className={classes.why}>{why}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}

/** Published numbers of the paper. */
export function Published({ item }: { item: PaperItem }) {
  return (
    <WideTable label="Published numbers" className={classes.card}>
      <Group justify="space-between">
        <Title order={2}>Published numbers</Title>
        {item.published.length > 0 && (
          <Button size="xs" variant="default" onClick={() => savePublished(item)}>
            Download numbers (CSV)
          </Button>
        )}
      </Group>
      {item.unpublished && (
        <Text size="sm" mt={4} className={classes.prose}>
          {item.unpublished}
        </Text>
      )}
      {item.published.length > 0 && (
        <Table className={classes.table} verticalSpacing={6} mt="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th scope="col">What</Table.Th>
              <Table.Th scope="col" className={classes.number}>
                Number
              </Table.Th>
              <Table.Th scope="col">Source</Table.Th>
              <Table.Th scope="col">Protocol</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {item.published.map(({ what, value, unit, source, table, protocol }) => (
              <Table.Tr key={`${what} ${protocol} ${unit}`}>
                <Table.Td>{what}</Table.Td>
                <Table.Td className={classes.number}>
                  {exact(value)} {unit}
                </Table.Td>
                <Table.Td>
                  {source}, {table}
                </Table.Td>
                <Table.Td className={classes.why}>{protocol}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </WideTable>
  );
}

const NUMBER_HEADER = ["what", "value", "unit", "source", "table", "protocol"];

function savePublished({ paper, name, published }: PaperItem) {
  const rows = published.map(({ what, value, unit, source, table, protocol }) => [
    what,
    value,
    unit,
    source,
    table,
    protocol,
  ]);
  saveCsv(`${paper}-${name}-published.csv`, NUMBER_HEADER, rows);
}

/** Studies started from this item. */
export function StartedStudies({ item }: { item: PaperItem }) {
  if (item.started.length === 0) return null;
  return (
    <WideTable label="Studies of this item" className={classes.card}>
      <Title order={2}>Studies of this item</Title>
      <Table className={classes.table} verticalSpacing={6} mt="xs">
        <Table.Tbody>
          {item.started.map((study) => {
            const total = Object.values(study.runs).reduce((sum, count) => sum + count, 0);
            return (
              <Table.Tr key={study.id}>
                <Table.Td>
                  <Anchor component={Link} to={`/studies/${study.id}`} size="sm">
                    {study.part}, {nearestPercent(study.share)}
                  </Anchor>
                </Table.Td>
                <Table.Td>{study.state}</Table.Td>
                <Table.Td className={classes.number}>
                  {study.runs.finished} of {plural(total, "run")} finished
                </Table.Td>
                <Table.Td>
                  <TimeAgo time={study.created_at} />
                </Table.Td>
              </Table.Tr>
            );
          })}
        </Table.Tbody>
      </Table>
    </WideTable>
  );
}
