import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { renderPage } from "@/testing/render";
import { type Column, DataTable } from "./DataTable";

interface Worker {
  name: string;
  cores: number;
}

const COLUMNS: (Column<Worker> | false)[] = [
  { title: "Name", isRowHeader: true, cell: ({ name }) => name },
  { title: "Cores", numeric: true, help: "Of the host", cell: ({ cores }) => cores },
  false,
  { title: "Actions", isTitleHidden: true, cell: ({ name }) => <button>{`Stop ${name}`}</button> },
];
const ROWS: Worker[] = [{ name: "one", cores: 4 }];

const show = (rows: Worker[], columns = COLUMNS) =>
  renderPage(
    <DataTable
      label="Table of workers"
      rows={rows}
      rowKey={({ name }) => name}
      columns={columns}
      empty="No workers"
    />,
  );

it("names its rows, columns and the place that scrolls for screen readers", () => {
  show(ROWS);
  expect(screen.getByRole("group", { name: "Table of workers" }).contains(screen.getByRole("table"))).toBe(
    true,
  );
  const titles = screen.getAllByRole("columnheader").map(({ textContent }) => textContent);
  expect(titles).toEqual(["Name", "Cores", "Actions"]);
  expect(screen.getByRole("columnheader", { name: "Cores" }).title).toBe("Of the host");
  expect(screen.getByRole("row", { name: "one 4 Stop one" })).toBeDefined();
  expect(screen.getByRole("rowheader").textContent).toBe("one");
});

it("has no header if no column has a title", () => {
  show(ROWS, [{ cell: ({ name }) => name }]);
  expect(screen.queryByRole("columnheader")).toBeNull();
  expect(screen.getByRole("cell").textContent).toBe("one");
});

it("shows other content in place of a table without rows", () => {
  show([]);
  expect(screen.getByText("No workers")).toBeDefined();
  expect(screen.queryByRole("table")).toBeNull();
});
