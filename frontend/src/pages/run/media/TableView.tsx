import { Button, Text } from "@mantine/core";
import { useState } from "react";
import { DataTable } from "@/ui/DataTable";
import { exact, plural } from "@/ui/format";
import { type Cell, tableOf, type MediaViewProps } from "./mediaData";
import classes from "./media.module.css";

/** Rows that are shown at first. They fit without scrolling. */
const FIRST_ROWS = 10;

/** The tables of one step. */
export function TableView({ items }: MediaViewProps) {
  return items.map((item) => {
    const { columns, rows } = tableOf(item);
    return <Rows key={item.id} name={item.name} caption={item.caption} columns={columns} rows={rows} />;
  });
}

interface RowsProps {
  name: string;
  caption: string | null;
  columns: readonly string[];
  rows: readonly (readonly Cell[])[];
}

function Rows({ name, caption, columns, rows }: RowsProps) {
  const [showsAll, setShowsAll] = useState(false);
  const shownRows = showsAll ? rows : rows.slice(0, FIRST_ROWS);
  return (
    <div>
      {caption && (
        <Text size="sm" c="dimmed">
          {caption}
        </Text>
      )}
      <DataTable
        label={`Table ${name}`}
        frameClass={classes.table}
        verticalSpacing={4}
        rows={shownRows}
        rowKey={(_, number) => number}
        columns={columns.map((title, column) => ({
          title,
          numeric: isNumeric(rows, column),
          cell: (row: RowsProps["rows"][number]) => cellText(row[column] ?? null),
        }))}
      />
      {rows.length === 0 && (
        <Text size="sm" c="dimmed">
          This table has no rows.
        </Text>
      )}
      {shownRows.length < rows.length && (
        <Button variant="subtle" size="xs" onClick={() => setShowsAll(true)}>
          Show all {plural(rows.length, "row")}
        </Button>
      )}
    </div>
  );
}

/** Return true if a column has numbers and nothing else but gaps. */
function isNumeric(rows: RowsProps["rows"], column: number): boolean {
  const cells = rows.map((row) => row[column] ?? null).filter((cell) => cell !== null);
  return cells.length > 0 && cells.every((cell) => typeof cell === "number");
}

function cellText(cell: Cell): string {
  if (cell === null) return "–";
  if (typeof cell === "boolean") return cell ? "yes" : "no";
  return typeof cell === "number" ? exact(cell) : cell;
}
