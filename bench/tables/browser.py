"""Tables of pages in the browser: how they load, and what they cost while runs train."""

import statistics

from bench.tables.cells import group, number, numbers, show, values
from bench.tables.data import Lines, Row, Rows, table

HOUR = 3600


@table("pages.csv")
def page_loads(rows: Rows) -> Lines:
    """Show the medians of both checkouts, and the median of the ratio of pages that were opened after each other."""
    lines = [["page", "before", "after", "ratio of a pair", "code before", "code after", "chart library", "files"]]
    for (page,), found in group(rows, "page").items():
        before, after = ([row for row in found if row["version"] == which] for which in ("before", "after"))
        times = [numbers(each, "milliseconds") for each in (before, after)]
        pairs = [new / old for old, new in zip(*times, strict=True)]
        charts = [show(max(numbers(each, "chart_library_bytes")) / 1e3, 0) for each in (before, after)]
        files = [show(max(numbers(each, "code_files")), 0) for each in (before, after)]
        lines.append(
            [
                str(page),
                *(f"{statistics.median(each):,.0f} ms" for each in times),
                show(statistics.median(pairs), 2),
                *(f"{max(numbers(each, 'code_bytes')) / 1e3:.0f} kB" for each in (before, after)),
                f"{charts[0]} → {charts[1]} kB",
                f"{files[0]} → {files[1]}",
            ]
        )
    return lines


@table("pages.csv")
def page_tasks(rows: Rows) -> Lines:
    """Show the tasks over 100 ms per opened page."""
    lines = [["page", "long tasks before", "long tasks after", "longest before", "longest after"]]
    for (page,), found in group(rows, "page").items():
        tasks = [
            [values(str(row["long_tasks_milliseconds"] or "")) for row in found if row["version"] == which]
            for which in ("before", "after")
        ]
        counts = [show(statistics.mean(len(each) for each in opened), 1) for opened in tasks]
        longest = [f"{statistics.median(max(each, default=0.0) for each in opened):,.0f} ms" for opened in tasks]
        lines.append([str(page), *counts, *longest])
    return lines


@table("pages-quiet.csv")
def page_times(rows: Rows) -> Lines:
    """Show the medians of pages that were opened on a quiet machine."""
    lines = [["page", "median", "slowest", "long tasks", "longest"]]
    for (page,), found in group(rows, "page").items():
        times = numbers(found, "milliseconds")
        tasks = [values(str(row["long_tasks_milliseconds"] or "")) for row in found]
        lines.append(
            [
                str(page),
                f"{statistics.median(times):,.0f} ms",
                f"{max(times):,.0f} ms",
                show(statistics.mean(len(each) for each in tasks), 1),
                f"{statistics.median(max(each, default=0.0) for each in tasks):,.0f} ms",
            ]
        )
    return lines


@table("live-pages.csv")
def live_pages(rows: Rows) -> Lines:
    """Show the medians of each page, by how many runs report."""
    lines = [["live runs", "page", "MB an hour", "share of a core"]]
    for (runs, page), found in group(rows, "runs", "page").items():
        traffic = show(_median(found, "bytes") * HOUR / 1e6, 1)
        lines.append([str(runs), str(page), traffic, f"{_median(found, 'busy_seconds'):.1%}"])
    return lines


def _median(rows: Rows, field: str) -> float:
    """Return the median of a value per second."""
    return statistics.median(number(row[field]) / number(row["seconds"]) for row in rows)


@table("page-memory.csv")
def page_memory(rows: Rows) -> Lines:
    """Show the heap of each page after garbage collection, at the beginning and at equal intervals."""
    count = len(values(rows[0]["heap_megabytes"]))
    lines = [["page", *(f"{show(_minutes(rows[0]) * place / (count - 1), 1)} min" for place in range(count)), "growth"]]
    for row in rows:
        heaps = values(row["heap_megabytes"])
        # The first part fills caches.
        lines.append([str(row["page"]), *(f"{heap:.1f} MB" for heap in heaps), f"{heaps[-1] - heaps[1]:.1f} MB"])
    return lines


def _minutes(row: Row) -> float:
    return number(row["seconds"]) / 60


@table("table-page.csv")
def table_page(rows: Rows) -> Lines:
    """Show the medians of each number of runs."""
    sizes = [runs for (runs,) in group(rows, "runs")]
    lines = [["what", *(f"{int(number(runs)):,} runs" for runs in sizes)]]
    for (what,), found in group(rows, "what").items():
        if not str(what).startswith("frames without"):
            cells = {row["runs"]: _shown(str(what), values(row["milliseconds"])) for row in found}
            lines.append([str(what), *(cells.get(runs, "–") for runs in sizes)])
    return lines


def _shown(what: str, found: list[float]) -> str:
    if what.startswith("frames"):
        return f"{1000 * len(found) / sum(found):.0f} per second"
    return f"{statistics.median(found):,.0f} ms"


@table("table-page.csv")
def table_page_gaps(rows: Rows) -> Lines:
    """Show the share of frames in which no row was loaded."""
    sizes = group(rows, "runs")
    lines = [["scrolling", *(f"{int(number(runs)):,} runs" for (runs,) in sizes)]]
    for how in ("slowly", "quickly"):
        cells = []
        for found in sizes.values():
            of_what = {str(row["what"]): values(row["milliseconds"]) for row in found}
            empty = sum(of_what[f"frames without rows while scrolling {how}"])
            cells.append(f"{empty / len(of_what[f'frames while scrolling {how}']):.0%}")
        lines.append([how, *cells])
    return lines
