"""Tables that compare Arcadia with other trackers."""

from collections.abc import Callable

from bench.tables.cells import NONE, group, listing, number, show
from bench.tables.data import Lines, Row, Rows, table


def products(rows: Rows, field: str, cell: Callable[[Row], str], higher: str | None = None) -> Lines:
    """Return a table with a column for each product. The best value of a line is bold, if several have one.

    Lower values of the field are better, except in the line `higher`.
    """
    names = [str(name) for (name,) in group(rows, "product")]
    lines = [["", *names]]
    for (what,), found in group(rows, "what").items():
        measured = {str(row["product"]): number(row[field]) for row in found if row[field] is not None}
        best = (max if what == higher else min)(measured.values()) if len(measured) > 1 else None
        shown = [(cell(row), row[field] is not None and row[field] == best) for row in found]
        lines.append([str(what), *(f"**{text}**" if bold else text for text, bold in shown)])
    return lines


@table("peers-requests.csv")
def peers_requests(rows: Rows) -> Lines:
    def cell(row: Row) -> str:
        if row["median_ms"] is None:
            return "no such request"
        return f"{row['median_ms']:,} ms (p95 {row['p95_ms']:,})"

    return products(rows, "median_ms", cell)


@table("peers-requests.csv")
def peers_sizes(rows: Rows) -> Lines:
    def cell(row: Row) -> str:
        return f"{row['kB']:,} kB, {row['kB_sent']:,} kB sent, {row['requests']}"

    lines = [["", *(str(name) for (name,) in group(rows, "product"))]]
    for (what,), found in group([row for row in rows if "first chart" not in str(row["what"])], "what").items():
        lines.append([str(what), *(NONE if row["kB"] is None else cell(row) for row in found)])
    return lines


@table("peers-run-tables.csv")
def peers_run_tables(rows: Rows) -> Lines:
    def cell(row: Row) -> str:
        if row["median"] is None:
            return str(row["remark"])
        if row["maximum"] is None:
            return str(row["median"])
        remark = "" if row["remark"] is None else f", {row['remark']}"
        return f"{row['median']:,} ms (max {row['maximum']:,}){remark}"

    return products(rows, "median", cell, higher="frames per second while it scrolls")


@table("peers-live.csv")
def peers_live(rows: Rows) -> Lines:
    return products(rows, "value", lambda row: show(number(row["value"])))


@table("peers-logging.csv")
def peers_logging(rows: Rows) -> Lines:
    def cell(row: Row) -> str:
        digits = 1 if "CPU" in str(row["what"]) else 0
        return show(number(row["value"]), digits)

    return products(rows, "value", cell, higher="values stored per second")


@table("peers-ways.csv")
def peers_ways(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "way": "{way}",
            "script": "{script}",
            "settings, environment and method": "{settings}",
            "metrics": "{metrics}",
            "system metrics": "{system_metrics}",
            "artifact": "{artifact}",
        },
    )
