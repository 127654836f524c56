import { Table, type TableProps, type TableTdProps, type TableThProps, VisuallyHidden } from "@mantine/core";
import type { Key, ReactNode } from "react";
import { WideTable } from "./WideTable";

export type CellProps = TableTdProps & Record<`data-${string}`, unknown>;

export interface Column<Row> {
  /** Heading. Without one in any column, the table has no header. */
  title?: ReactNode;
  /** True if only screen readers get the heading, such as the one of a column of buttons. */
  isTitleHidden?: boolean;
  /** Tooltip of the heading. */
  help?: string | undefined;
  cell: (row: Row, place: number) => ReactNode;
  /** True for numbers. They are aligned at the right. */
  numeric?: boolean;
  /** True if the cell names its row. */
  isRowHeader?: boolean;
  className?: string | undefined;
  visibleFrom?: TableTdProps["visibleFrom"];
  headProps?: TableThProps;
  /** Return properties of a cell, such as its tooltip. */
  cellProps?: (row: Row, place: number) => CellProps;
}

interface DataTableProps<Row> extends Omit<TableProps, "data"> {
  /** Name for screen readers. With it, a table that is wider than its place scrolls sideways. */
  label?: string;
  /** Class of the place that scrolls. */
  frameClass?: string | undefined;
  rows: readonly Row[];
  rowKey: (row: Row, place: number) => Key;
  rowProps?: (row: Row) => Record<`data-${string}`, boolean | undefined>;
  columns: readonly (Column<Row> | false)[];
  /** Content in place of a table without rows. */
  empty?: ReactNode;
}

/** Table with one column per entry of `columns`. */
export function DataTable<Row>({
  label,
  frameClass,
  rows,
  rowKey,
  rowProps,
  columns,
  empty,
  ...props
}: DataTableProps<Row>) {
  if (empty !== undefined && rows.length === 0) return empty;
  const shown = columns.filter((column) => column !== false);
  const table = (
    <Table {...props}>
      {shown.some(({ title }) => title !== undefined) && (
        <Table.Thead>
          <Table.Tr>
            {shown.map((column, place) => (
              <Table.Th
                key={place}
                scope="col"
                data-numeric={column.numeric || undefined}
                ta={column.numeric ? "right" : undefined}
                className={column.className}
                visibleFrom={column.visibleFrom}
                title={column.help}
                {...column.headProps}
              >
                {column.isTitleHidden ? <VisuallyHidden>{column.title}</VisuallyHidden> : column.title}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
      )}
      <Table.Tbody>
        {rows.map((row, number) => (
          <Table.Tr key={rowKey(row, number)} {...rowProps?.(row)}>
            {shown.map((column, place) => (
              <Cell key={place} column={column} row={row} number={number} />
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
  if (label === undefined) return table;
  return (
    <WideTable label={label} className={frameClass}>
      {table}
    </WideTable>
  );
}

function Cell<Row>({ column, row, number }: { column: Column<Row>; row: Row; number: number }) {
  const Part = column.isRowHeader ? (Table.Th as typeof Table.Td) : Table.Td;
  return (
    <Part
      {...(column.isRowHeader && { scope: "row", fw: 400 })}
      data-numeric={column.numeric || undefined}
      ta={column.numeric ? "right" : undefined}
      className={column.className}
      visibleFrom={column.visibleFrom}
      {...column.cellProps?.(row, number)}
    >
      {column.cell(row, number)}
    </Part>
  );
}
