"""Tables of docs/inference.md: how often intervals are shown and right, and verdicts false."""

from bench.tables.cells import NONE, group, listing, number, show
from bench.tables.data import Lines, Row, Rows, table

INTERVALS = {
    "mean": "mean of a group: Student's t",
    "difference": "difference of two means: Welch",
    "probability of improvement": "probability of improvement: bootstrap",
    "interquartile mean": "interquartile mean: widened bootstrap",
    "share above a return": "share of runs above a return: Clopper–Pearson",
}
STATISTICS = ("mean", "median", "interquartile mean", "optimality gap", "estimated median of 57")
# Numbers of runs in the tables. No interval of two runs is shown.
NUMBERS = (3, 5, 10)
ENDS = "a point of four equal ones is worse, checked after each of 20 seeds"


def percent(row: Row) -> str:
    """Return a share in percent, with the share of samples for which something is shown if that is not all."""
    if row["share"] is None:
        return NONE
    value = show(100 * number(row["share"]), 1 if row["kind"] == "false" else 0)
    shown = number(row["shown"])
    return value if shown == 1 else f"{value} ({show(100 * shown)})"


def by_families(rows: Rows, columns: dict[str, str]) -> Lines:
    """Return a line for each family of scores. Cells have the numbers of runs in their order."""
    lines = [["scores", *columns]]
    for (family,), of_family in group([row for row in rows if row["question"] in columns.values()], "scores").items():
        cells = []
        for question in columns.values():
            found = [row for row in of_family if row["question"] == question]
            cells.append(" / ".join(percent(row) for row in found if row["number"] in NUMBERS or len(found) == 1))
        lines.append([str(family), *cells])
    return lines


@table("inference.csv")
def inference_runs(rows: Rows) -> Lines:
    return by_families(rows, INTERVALS)


@table("inference.csv")
def inference_games(rows: Rows) -> Lines:
    return by_families(rows, {name: f"{name} over five games" for name in STATISTICS})


@table("inference.csv")
def inference_verdicts(rows: Rows) -> Lines:
    pages = {f"{groups} groups": f"the best of {groups} equal groups beats another" for groups in (2, 5, 10)}
    return by_families(rows, {**pages, "study of 4 points, 20 seeds": ENDS})


@table("while-training.csv")
def inference_while_training(rows: Rows) -> Lines:
    return listing(
        rows,
        {
            "runs per group": "{n}",
            "groups": "{groups}",
            "looks": "{looks}",
            "false at some look, %": lambda row: show(100 * number(row["false"]), 1),
            "pages": "{pages}",
        },
    )


@table("inference.csv")
def inference_episodes(rows: Rows) -> Lines:
    names = ("mean of 30", "mean of the episodes", "of a critic", "regret of 40", "share of false losses", "one of ")
    chosen = [row for row in rows if any(name in str(row["question"]) for name in names)]
    return listing(
        chosen,
        {"question": "{question}", "values": "{scores}", "number": "{number}", "what": "{kind}", "share, %": percent},
    )


@table("inference.csv")
def inference_solved(rows: Rows) -> Lines:
    lines = [["environment: agent", "regret covered, %", "“better” is false, %"]]
    for (agent,), found in group(
        [row for row in rows if "solved environment" in str(row["question"])], "scores"
    ).items():
        covered, false = (next(row for row in found if row["kind"] == kind) for kind in ("covered", "false"))
        lines.append([str(agent), percent(covered), percent(false)])
    return lines
