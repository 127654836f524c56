"""Small curves of many runs, for lists. All runs are read with a few queries."""

from collections.abc import Mapping, Sequence

import numpy as np
from sqlalchemy import select, tuple_
from sqlalchemy.orm import Session

from backend.metrics.models import MetricChunk, MetricPage, MetricSeries
from backend.metrics.points import POINT, Array, Floats, Ints
from backend.metrics.reading import at_attempt, unpack_summaries
from backend.metrics.schemas import Sparkline
from backend.metrics.series import find_shared_series
from backend.metrics.visibility import load_limits

BINS = 32
# A series with fewer finished chunks is read point by point. Its summaries would be too coarse.
FEW_CHUNKS = 8


def read_sparklines(session: Session, run_ids: Sequence[int], metric: str) -> list[Sparkline]:
    """Return the means of a metric in up to 32 parts of equal length, for each run that has reported it."""
    series = list(find_shared_series(session, run_ids, metric).values())
    limits = load_limits(session, [each.run_id for each in series])
    summaries, chunks = _read_summaries(session, series), _read_chunks(session, series)
    lines = []
    for each in series:
        parts = _parts(each, summaries.get(each.id, []), chunks.get(each.id, []), limits[each.run_id])
        if len(parts[0]):
            lines.append(Sparkline(run_id=each.run_id, values=_means(*parts)))
    return lines


def _read_summaries(session: Session, series: Sequence[MetricSeries]) -> Mapping[int, list[bytes]]:
    wanted = [each.id for each in series if each.chunks > FEW_CHUNKS]
    pages = select(MetricPage.series_id, MetricPage.data).where(MetricPage.series_id.in_(wanted))
    found: dict[int, list[bytes]] = {}
    for series_id, data in session.execute(pages.order_by(MetricPage.series_id, MetricPage.number)):
        found.setdefault(series_id, []).append(data)
    return found


def _read_chunks(session: Session, series: Sequence[MetricSeries]) -> Mapping[int, list[tuple[int, bytes]]]:
    """Return all chunks of the short series, and the unfinished last chunk of the others."""
    short = [each.id for each in series if each.chunks <= FEW_CHUNKS]
    last = [(each.id, each.chunks - 1) for each in series if each.chunks > FEW_CHUNKS and each.tail]
    columns = (MetricChunk.series_id, MetricChunk.attempt, MetricChunk.data)
    ordered = (MetricChunk.series_id, MetricChunk.number)
    found: dict[int, list[tuple[int, bytes]]] = {}
    for condition in (MetricChunk.series_id.in_(short), tuple_(MetricChunk.series_id, MetricChunk.number).in_(last)):
        for series_id, attempt, data in session.execute(select(*columns).where(condition).order_by(*ordered)):
            found.setdefault(series_id, []).append((attempt, data))
    return found


def _parts(
    series: MetricSeries, pages: Sequence[bytes], chunks: Sequence[tuple[int, bytes]], limits: Ints
) -> tuple[Ints, Floats, Ints]:
    """Return the last step, the sum and the count of each visible summary or point."""
    summaries = unpack_summaries(series, pages)
    summaries = summaries[summaries["last_step"] <= at_attempt(limits, summaries["attempt"])]
    steps, sums, counts = [summaries["last_step"]], [summaries["sum"]], [summaries["count"]]
    for attempt, data in chunks:
        points: Array = np.frombuffer(data, POINT)
        points = points[points["step"] <= at_attempt(limits, attempt)]
        steps.append(points["step"])
        sums.append(points["value"])
        counts.append(np.ones(len(points), np.int64))
    return np.concatenate(steps), np.concatenate(sums), np.concatenate(counts)


def _means(steps: Ints, sums: Floats, counts: Ints) -> list[float | None]:
    """Return the mean of each part, or null where a part has no finite value. Superseded ends are left out."""
    finite = np.isfinite(sums)
    # A script may evaluate its agent at step -1, before the training.
    first = min(0, int(steps.min()))
    last = max(first + 1, int(steps.max()))
    bins = np.minimum((steps[finite] - first) * BINS // (last - first), BINS - 1)
    total = np.bincount(bins, weights=sums[finite], minlength=BINS)
    number = np.bincount(bins, weights=counts[finite], minlength=BINS)
    return [float(part / count) if count else None for part, count in zip(total, number, strict=True)]
