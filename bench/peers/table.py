"""Markdown table of the measurements."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bench.peers.requests import Sample

# Measurements in the order of the table, with their labels.
WORDS = {
    "list-1000": "list of all runs",
    "list-200": "list of 200 runs",
    "curves": "curves of 10 runs, every point",
    "compare": "data of the page that compares 10 runs",
    "chart-cold": "first chart of that page, empty cache",
    "chart-warm": "first chart of that page, again",
}

Samples = Mapping[str, Mapping[str, Sequence[Sample]]]


def report(samples: Samples) -> str:
    """Return a table of the samples of each product and measurement. The fastest median is bold."""
    products = list(samples)
    rows = {}
    for key, words in WORDS.items():
        taken = {product: samples[product].get(key, []) for product in products}
        fastest = min((median(found) for found in taken.values() if found), default=0.0)
        cells = [cell(found, is_fastest=bool(found) and median(found) == fastest) for found in taken.values()]
        rows[words] = cells
    return markdown(products, rows)


def markdown(columns: Iterable[str], rows: Mapping[str, Sequence[str]]) -> str:
    """Return a Markdown table with a name before each row."""
    names = list(columns)
    lines = [f"| | {' | '.join(names)} |", f"|---|{'---|' * len(names)}"]
    return "\n".join([*lines, *(f"| {name} | {' | '.join(cells)} |" for name, cells in rows.items())])


def median(samples: Sequence[Sample]) -> float:
    """Return the median of the seconds."""
    return float(np.median([sample.seconds for sample in samples]))


def cell(samples: Sequence[Sample], *, is_fastest: bool) -> str:
    """Return the times and the bytes of one measurement as text."""
    if not samples:
        return "no such request"
    p50, p95 = np.percentile([sample.seconds for sample in samples], [50, 95]) * 1e3
    middle = f"{p50:,.0f} ms"
    times = f"{f'**{middle}**' if is_fastest else middle} (p95 {p95:,.0f})"
    last = samples[-1]
    if not last.requests:
        return times
    size = f"{last.raw_bytes / 1e3:,.0f} kB, {last.sent_bytes / 1e3:,.0f} kB sent"
    return f"{times}; {size}; {last.requests} request{'s' if last.requests > 1 else ''}"
