"""Tables of reviews: simulated ones with known truth, and mistakes on Pong that were simulated again."""

from bench.tables.cells import NONE, group, listing, number, show
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


@table("confirmed-mistakes.csv")
def confirmed_mistakes(rows: Rows) -> Lines:
    """Show how many mistakes of a kind have a loss in fresh futures, and how large it is."""
    lines = [["decisions", "number", "with a loss", "surely with a loss", "mean loss", "smallest loss"]]
    for (kind,), found in group(rows, "kind").items():
        losses = [number(row["loss"]) for row in found]
        sure = sum(number(row["loss"]) > number(row["half_width"]) for row in found)
        lines.append(
            [
                str(kind),
                str(len(found)),
                str(sum(loss > 0 for loss in losses)),
                str(sure),
                show(sum(losses) / len(losses), 2),
                show(min(losses), 2),
            ]
        )
    return lines
