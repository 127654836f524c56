import { Anchor, Button, Group, Text, Title } from "@mantine/core";
import { Link } from "react-router";
import type { PaperItem } from "@/api/types";
import { saveCsv } from "@/charts/csv";
import { DataTable } from "@/ui/DataTable";
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
      <DataTable
        className={classes.table}
        verticalSpacing={6}
        mt="xs"
        rows={table.rows}
        rowKey={([first]) => first ?? ""}
        columns={table.columns.map((title, place) => ({ title, cell: (row: string[]) => row[place] }))}
      />
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
      <DataTable
        className={classes.table}
        verticalSpacing={6}
        mt="xs"
        rows={rows}
        rowKey={({ what }) => what}
        columns={[
          { title: "Setting", cell: ({ what }) => what },
          { title: "The paper", cell: ({ theirs }) => theirs || "not stated" },
          { title: "Its code", cell: ({ code }) => code || "–" },
          { title: "Ours", cell: ({ ours }) => ours },
          { title: "Why", className: classes.why, cell: ({ why }) => why },
        ]}
      />
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
        <DataTable
          className={classes.table}
          verticalSpacing={6}
          mt="xs"
          rows={item.published}
          rowKey={({ what, protocol, unit }) => `${what} ${protocol} ${unit}`}
          columns={[
            { title: "What", cell: ({ what }) => what },
            { title: "Number", numeric: true, cell: ({ value, unit }) => `${exact(value)} ${unit}` },
            { title: "Source", cell: ({ source, table }) => `${source}, ${table}` },
            { title: "Protocol", className: classes.why, cell: ({ protocol }) => protocol },
          ]}
        />
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
      <DataTable
        className={classes.table}
        verticalSpacing={6}
        mt="xs"
        rows={item.started}
        rowKey={({ id }) => id}
        columns={[
          {
            cell: ({ id, part, share }) => (
              <Anchor component={Link} to={`/studies/${id}`} size="sm">
                {part}, {nearestPercent(share)}
              </Anchor>
            ),
          },
          { cell: ({ state }) => state },
          { numeric: true, cell: ({ runs }) => `${runs.finished} of ${plural(sum(runs), "run")} finished` },
          { cell: ({ created_at }) => <TimeAgo time={created_at} /> },
        ]}
      />
    </WideTable>
  );
}

const sum = (counts: Record<string, number>) =>
  Object.values(counts).reduce((total, count) => total + count, 0);
