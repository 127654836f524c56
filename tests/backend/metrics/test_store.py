"""Tests of the metric store, compared with a plain list of points."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from sqlalchemy import Connection, Engine, event, select
from sqlalchemy.orm import Session

from arcadia_backend.database.engine import Database
from arcadia_backend.database.tables import Attempt, Run
from arcadia_backend.metrics import reading, service
from arcadia_backend.metrics.points import MetricSeries, load_run_views
from arcadia_backend.metrics.queries import FRAMES_PER_EPOCH, VisibleSeries, Window, read_curve, read_curves
from arcadia_backend.metrics.reading import Axis, Curve
from arcadia_workers.contract.events import Episode, Metrics

NAME = "train/entropy"
values = st.floats(width=32) | st.sampled_from([math.nan, math.inf, -math.inf, 0.0])


@dataclass
class Point:
    """A point of the plain list."""

    attempt: int
    step: int
    time: float
    value: float
    shown: bool = True


@dataclass
class ReportedAttempt:
    """The step that an attempt resumed from, and its batches of (step increment, value)."""

    resumed: int
    batches: list[list[tuple[int, float]]] = field(default_factory=list)


attempts = st.lists(
    st.builds(
        ReportedAttempt,
        st.integers(0, 150),
        st.lists(st.lists(st.tuples(st.integers(0, 20), values), min_size=1, max_size=15), max_size=5),
    ),
    min_size=1,
    max_size=4,
)
axes = st.sampled_from(["step", "frames", "time", "epoch"])
windows = st.tuples(st.floats(0, 1), st.floats(0, 1)).map(sorted)


@pytest.fixture
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shrink chunks and pages so that a few points fill many of them."""
    monkeypatch.setattr(service, "CHUNK", 4)
    monkeypatch.setattr(service, "PAGE", 3)
    monkeypatch.setattr(service, "RECENT", 5)
    monkeypatch.setattr(reading, "CHUNKS_PER_READ", 2)


def report(database: Database, reported: list[ReportedAttempt]) -> tuple[int, list[Point]]:
    """Store reported points. Return the run and the points it should have."""
    points: list[Point] = []
    with database.write() as session:
        run = Run(name="r", algorithm="paac", env="CartPole-v1", queue="cpu", config={}, total_steps=1)
        session.add(run)
        session.flush()
        run_id, now = run.id, 1_700_000_000.0
        for number, attempt in enumerate(reported, start=1):
            step = resumed = attempt.resumed if number > 1 else 0
            for point in points:
                point.shown &= point.step <= resumed
            session.add(Attempt(run_id=run_id, attempt=number, worker="w", resumed_step=resumed))
            forget(session)
            service.supersede(session, session.get_one(Run, run_id), number, resumed)
            now += 1_000
            for batch in attempt.batches:
                events = []
                for more, value in batch:
                    step, now = step + more, now + 0.5
                    events.append(Metrics(seq=1, time=now, step=step, frames=4 * step, values={NAME: value}))
                    points.append(Point(number, step, now, value))
                forget(session)
                service.store(session, session.get_one(Run, run_id), number, events)
    return run_id, points


def forget(session: Session) -> None:
    """Clear the session, so that it reads everything again like a new request."""
    session.flush()
    session.expunge_all()


def axis_of(points: list[Point], axis: Axis) -> list[float]:
    """Return the x of the visible points by a simple computation."""
    times: dict[int, list[float]] = {}
    for point in points:
        times.setdefault(point.attempt, []).append(point.time)
    before: dict[int, float] = {}
    trained = 0.0
    for attempt, moments in sorted(times.items()):
        before[attempt] = moments[0] - trained
        trained += moments[-1] - moments[0]
    scale = {"step": 1.0, "frames": 4.0, "epoch": 4.0}
    return [
        point.time - before[point.attempt]
        if axis == "time"
        else point.step * scale[axis] / (FRAMES_PER_EPOCH if axis == "epoch" else 1)
        for point in points
        if point.shown
    ]


def read(database: Database, run_id: int, window: Window, skip: int = 0) -> Curve | None:
    """Return the curve, or None if the series does not exist."""
    with database.read() as session:
        series = session.scalar(select(MetricSeries).where(MetricSeries.run_id == run_id))
        if series is None:
            return None
        [curve] = read_curves(session, [VisibleSeries(series, load_run_views(session, [run_id])[run_id], skip)], window)
        return curve


def check_against(curve: Curve, x: list[float], expected: list[float]) -> None:
    """Check that each place has the statistics of its points, and that the places cover all points."""
    assert curve.total == curve.count.sum() == len(expected)
    assert list(curve.x) == sorted(curve.x)
    start = 0
    for index, count in enumerate(curve.count):
        of_place = np.array(expected[start : start + count])
        assert curve.x[index] == x[start + count - 1]
        np.testing.assert_array_equal(curve.min[index], np.fmin.reduce(of_place))
        np.testing.assert_array_equal(curve.max[index], np.fmax.reduce(of_place))
        np.testing.assert_array_equal(curve.last[index], of_place[-1])
        with np.errstate(invalid="ignore"):
            scale = np.abs(of_place).max()
            np.testing.assert_allclose(curve.mean[index], of_place.mean(), rtol=1e-9, atol=1e-9 * scale)
        start += count


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(attempts, axes, windows, st.integers(1, 12), st.booleans())
@example(
    [ReportedAttempt(0, [[(0, 1.0), (3, math.nan)] * 6]), ReportedAttempt(9, [[(2, 5.0)] * 3])],
    "step",
    [0.0, 1.0],
    3,
    False,
)
def test_every_zoom_on_every_axis_is_exact(
    database: Database,
    small_chunks: None,  # noqa: ARG001
    reported: list[ReportedAttempt],
    axis: Axis,
    zoom: list[float],
    buckets: int,
    log: bool,
) -> None:
    run_id, points = report(database, reported)
    x = axis_of(points, axis)
    shown = [point.value for point in points if point.shown]
    low, high = ((min(x) + part * (max(x) - min(x)) if x else part) for part in zoom)
    curve = read(database, run_id, Window(axis, low, high, buckets, log))
    inside = [(place, value) for place, value in zip(x, shown, strict=True) if low <= place <= high]
    if curve is None:
        assert not points
        return
    check_against(curve, [place for place, _value in inside], [value for _place, value in inside])
    assert len(curve.x) <= buckets
    assert curve.raw == (len(curve.x) == len(inside))
    if len(inside) <= buckets:
        assert curve.raw


@pytest.mark.nightly
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(attempts)
def test_statistics_leave_out_superseded_points(
    database: Database,
    small_chunks: None,  # noqa: ARG001
    reported: list[ReportedAttempt],
) -> None:
    run_id, points = report(database, reported)
    shown = np.array([point.value for point in points if point.shown])
    with database.read() as session:
        series = session.scalar(select(MetricSeries).where(MetricSeries.run_id == run_id))
    if series is None:
        assert not points
        return
    assert (series.count, series.stored) == (len(shown), len(points))
    if not len(shown):
        assert series.last is series.min is series.max is series.recent_mean is None
        return
    assert series.last is not None
    np.testing.assert_array_equal(series.last, shown[-1])
    np.testing.assert_array_equal(series.min, np.fmin.reduce(shown))
    np.testing.assert_array_equal(series.max, np.fmax.reduce(shown))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(series.recent_mean, shown[-5:].mean())


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(attempts, st.integers(0, 300))
def test_skipping_points_returns_all_later_points(
    database: Database,
    small_chunks: None,  # noqa: ARG001
    reported: list[ReportedAttempt],
    skip: int,
) -> None:
    run_id, points = report(database, reported)
    curve = read(database, run_id, Window("step", buckets=1_000), skip)
    if curve is not None:
        later = [point for point in points[skip:] if point.shown]
        check_against(curve, [float(point.step) for point in later], [point.value for point in later])


@settings(max_examples=20, suppress_health_check=list(HealthCheck))
@given(st.lists(st.lists(st.integers(-20, 500).map(float), min_size=1, max_size=8), min_size=1, max_size=8))
def test_best_return_is_the_best_mean_of_recent_episodes(
    database: Database,
    small_chunks: None,  # noqa: ARG001
    batches: list[list[float]],
) -> None:
    run_id, _points = report(database, [ReportedAttempt(0)])
    step = 0
    with database.write() as session:
        for batch in batches:
            episodes = []
            for value in batch:
                step += 1
                episodes.append(Episode(step=step, frames=4 * step, episode_return=value, length=1))
            event = Metrics(seq=1, time=1.0, step=step, frames=4 * step, episodes=episodes)
            forget(session)
            service.store(session, session.get_one(Run, run_id), 1, [event])
    returns = np.array([value for batch in batches for value in batch])
    with database.read() as session:
        run = session.get_one(Run, run_id)
    assert run.episodes == len(returns)
    assert run.last_return == pytest.approx(returns[-5:].mean())
    windows_of_five = [returns[end - 5 : end].mean() for end in range(5, len(returns) + 1)]
    assert run.best_return == pytest.approx(max(windows_of_five) if windows_of_five else returns.mean())


def test_a_long_series_is_read_from_summaries(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    run_id, _points = report(database, [ReportedAttempt(0)])
    steps = range(0, 300_000, 10)
    for start in range(0, len(steps), 10_000):
        events = [
            Metrics(seq=1, time=float(step), step=step, frames=4 * step, values={NAME: math.sin(step / 5_000)})
            for step in steps[start : start + 10_000]
        ]
        with database.write() as session:
            service.store(session, session.get_one(Run, run_id), 1, events)
    opened: list[int] = []
    read_points = reading.read_points

    def counted(session, every):  # type: ignore[no-untyped-def]
        every = [*every]
        opened.extend(len(each.numbers) for each in every)
        return read_points(session, every)

    monkeypatch.setattr("arcadia_backend.metrics.queries.read_points", counted)
    curve = read(database, run_id, Window("step", buckets=25))
    assert curve is not None
    assert opened == [0]
    check_against(curve, [float(step) for step in steps], [math.sin(step / 5_000) for step in steps])
    assert 20 <= len(curve.x) <= 25
    assert curve.count.max() < 1.5 * curve.count.mean()


def test_points_of_a_batch_are_sorted_by_step(database: Database) -> None:
    run_id, _points = report(database, [ReportedAttempt(0)])
    episodes = [
        Episode(step=step, frames=4 * step, episode_return=float(step), length=step) for step in (30, 10, 20, 10)
    ]
    with database.write() as session:
        event = Metrics(seq=1, time=1.0, step=40, frames=160, episodes=episodes)
        service.store(session, session.get_one(Run, run_id), 1, [event])
    with database.read() as session:
        series = session.scalar(select(MetricSeries).where(MetricSeries.name == "episode/return"))
        assert series is not None
        curve = read_curve(session, series, load_run_views(session, [run_id])[run_id], Window("step"))
    assert curve.x.tolist() == curve.mean.tolist() == [10, 10, 20, 30]


def test_no_point_is_lost_if_a_clock_is_set_back(database: Database) -> None:
    run_id, _points = report(database, [ReportedAttempt(0)])
    clock = [100.0, 200.0, 300.0, 150.0, 160.0, 310.0]
    events = [Metrics(seq=1, time=time, step=step, frames=step, values={NAME: time}) for step, time in enumerate(clock)]
    with database.write() as session:
        service.store(session, session.get_one(Run, run_id), 1, events)
    curve = read(database, run_id, Window("time", buckets=3))
    assert curve is not None
    assert curve.count.sum() == 6
    assert (curve.min.min(), curve.max.max(), curve.last[-1]) == (100.0, 310.0, 310.0)


def test_a_run_has_a_limited_number_of_metrics(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "MAX_SERIES", 3)
    run_id, _points = report(database, [ReportedAttempt(0, [[(1, 1.0)]])])
    more = Metrics(seq=2, time=1.0, step=1, frames=4, values={"a": 1.0, "b": 2.0, "c": 3.0})
    with pytest.raises(service.UnstorableMetric, match="may have 3 metrics"), database.write() as session:
        service.store(session, session.get_one(Run, run_id), 1, [more])


@pytest.mark.parametrize("name", ["", "x" * 201, "a\n", "a\x1b"])
def test_invalid_metric_names_are_rejected(database: Database, name: str) -> None:
    run_id, _points = report(database, [ReportedAttempt(0)])
    event = Metrics(seq=2, time=1.0, step=1, frames=4, values={name: 1.0})
    with pytest.raises(service.UnstorableMetric, match="cannot name a metric"), database.write() as session:
        service.store(session, session.get_one(Run, run_id), 1, [event])


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_stored_points_are_found_by_an_index(database: Database) -> None:
    """A scan of the table would slow each batch of metrics down by all points that were ever stored."""
    run_id, _points = report(database, [ReportedAttempt(0)])
    plans: list[str] = []

    def explain(connection: Connection, _cursor: Any, text: str, parameters: Any, *_rest: Any) -> None:
        if "SELECT" in text and "metric_chunks" in text:
            plans.extend(row[-1] for row in connection.connection.execute(f"EXPLAIN QUERY PLAN {text}", parameters))

    event.listen(Engine, "before_cursor_execute", explain)
    try:
        for step in (1, 2):
            batch = Metrics(seq=1, time=1.0, step=step, frames=step, values={"a": 1.0, "b": 2.0, "c": 3.0})
            with database.write() as session:
                service.store(session, session.get_one(Run, run_id), 1, [batch])
        with database.read() as session:
            series = session.scalars(select(MetricSeries).where(MetricSeries.run_id == run_id)).all()
            view = load_run_views(session, [run_id])[run_id]
            curves = read_curves(session, [VisibleSeries(each, view) for each in series], Window("step"))
    finally:
        event.remove(Engine, "before_cursor_execute", explain)
    assert [curve.total for curve in curves] == [2, 2, 2]
    assert len([line for line in plans if line.startswith("SEARCH metric_chunks")]) == 2
    assert not [line for line in plans if line.startswith("SCAN metric_")]
