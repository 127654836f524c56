"""Tables of simulated reviews, whose truth is known."""

from bench.tables.cells import NONE, listing, number, show
from bench.tables.data import Lines, Row, Rows, table

SIZES = ("0.02", "0.1", "0.3", "0.6", "1", "2")


@table("reviews.csv")
def simulated_reviews(rows: Rows) -> Lines:
    """Show how many of the shown mistakes are false, and how often the measured loss covers the true one."""
    return listing(
        rows,
        {
            "environment": "{environment}",
            "first actions": "{actions}",
            "false at the end": lambda row: f"{number(row['false_at_end']):.2%}",
            "false at the first mistake": lambda row: f"{number(row['false_at_first']):.2%}",
            "losses covered": _covered,
            "futures of a review": lambda row: show(number(row["futures"])),
        },
    )


@table("reviews.csv")
def found_mistakes(rows: Rows) -> Lines:
    """Show how many of the decisions were shown as mistakes, by their true loss."""
    shown = [row for row in rows if row["actions"] == "unequal"]
    lines = [["environment", *(f"loss up to {size}" for size in SIZES)]]
    for row in shown:
        counts = [(number(row[f"found_to_{size}"]), number(row[f"decisions_to_{size}"])) for size in SIZES]
        cells = [f"{found / of:.1%} of {show(of)}" if of else NONE for found, of in counts]
        lines.append([str(row["environment"]), *cells])
    return lines


def _covered(row: Row) -> str:
    measured = number(row["losses_measured"])
    return f"{number(row['losses_covered']) / measured:.1%} of {show(measured)}" if measured else NONE
