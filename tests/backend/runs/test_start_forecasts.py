"""Stored forecasts of starts: stored once, compared with what happened, and summed over all projects."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from datetime import timedelta
from statistics import median
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select, update
from sqlalchemy.orm import Session

from arcadia_backend.config import Settings
from arcadia_backend.database.columns import utc_now
from arcadia_backend.database.engine import Database, open_database
from arcadia_backend.database.scope import BACKEND, Scope, acting_as
from arcadia_backend.database.tables import Attempt, Run, StartForecast
from arcadia_backend.runs.start_forecasts import KEPT, DueForecast, delete_old, follow_starts, read_calibration, score
from bench import lab
from tests.backend.runs.test_forecast import train
from tests.factories import CARTPOLE, Api

LONG = {**CARTPOLE, "total_steps": 60_000}


def follow(database: Database) -> None:
    """Run one pass of the background thread."""
    with acting_as(BACKEND):
        follow_starts(database, utc_now())


def stored(database: Database) -> list[StartForecast]:
    """Return all stored forecasts in their order."""
    with acting_as(BACKEND), database.read() as session:
        return [*session.scalars(select(StartForecast).order_by(StartForecast.id))]


def busy(api: Api, past: int = 5) -> tuple[int, int]:
    """Let one worker train, after enough runs have ended for a forecast. Return its run and attempt."""
    for _ in range(past):
        train(api, 100, 10)
    run_id = api.launch(config=LONG)["id"]
    attempt = api.claim()["attempt"]
    api.beat("w1", run={"id": run_id, "attempt": attempt})
    return run_id, attempt


def pass_stated_times(database: Database) -> None:
    """Move the stated times of waiting runs to the past."""
    with acting_as(BACKEND), database.write() as session:
        past = utc_now() - timedelta(seconds=1)
        session.execute(update(StartForecast).where(StartForecast.is_waiting).values(by_at=past))


def read(database: Database, days: int = 30) -> dict[str, Any]:
    """Return what the page shows."""
    with acting_as(BACKEND), database.read() as session:
        return read_calibration(session, days).model_dump()


def test_each_entry_into_the_queue_has_one_forecast_also_with_several_backends(
    api: Api, database: Database, settings: Settings
) -> None:
    held, attempt = busy(api)
    first, second = (api.launch(config=LONG)["id"] for _ in range(2))
    other = open_database(settings)
    try:
        for each in (database, other, database):
            follow(each)
    finally:
        other.close()
    rows = stored(database)
    assert [(row.run_id, row.runs_ahead, row.attempt) for row in rows] == [(first, 0, 1), (second, 1, 1)]
    assert all(row.by_at and row.expected_at and row.made_at < row.expected_at <= row.by_at for row in rows)
    # The sentence of the run states the same time.
    assert f"{rows[1].by_at:%Y-%m-%d %H}" in api.run(second)["state_reason"]
    api.release(held, attempt, "drained")
    follow(database)
    assert [(row.run_id, row.attempt) for row in stored(database)[2:]] == [(held, 2)]


def test_another_backend_that_stores_between_read_and_write_causes_no_second_row(
    api: Api, database: Database, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy(api)
    api.launch(config=LONG)
    other = open_database(settings)
    begun: list[bool] = []

    def store_first() -> None:
        if not begun:
            begun.append(True)
            follow(other)

    def write() -> AbstractContextManager[Session]:
        # The first pass has read what is missing, and begins to write.
        store_first()
        return writes()

    writes = database.write
    with monkeypatch.context() as patch:
        patch.setattr(database, "write", write)
        follow(database)
    other.close()
    assert begun == [True]
    assert len(stored(database)) == 1


def test_a_pass_that_is_killed_before_its_commit_is_repeated(
    api: Api, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, attempt = busy(api)
    waiting = api.launch(config=LONG)["id"]
    follow(database)
    api.release(held, attempt, "finished")
    assert api.claim()["run_id"] == waiting

    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr("arcadia_backend.runs.start_forecasts._store_outcome", die)
        with pytest.raises(KeyboardInterrupt):
            follow(database)
    [row] = stored(database)
    assert (row.is_waiting, row.started_at) == (True, None)
    follow(database)
    [row] = stored(database)
    with acting_as(BACKEND), database.read() as session:
        assert row.started_at == session.get_one(Attempt, (waiting, 1)).claimed_at
    assert (row.is_waiting, row.work_added) == (False, False)


def test_work_that_was_added_ahead_is_told_apart(api: Api, database: Database) -> None:
    held, attempt = busy(api)
    waiting = api.launch(config=LONG)["id"]
    follow(database)
    urgent = api.launch(config=LONG, priority=1)["id"]
    api.release(held, attempt, "finished")
    assert api.claim()["run_id"] == urgent
    assert api.claim("w2")["run_id"] == waiting
    follow(database)
    assert {row.run_id: row.work_added for row in stored(database)} == {waiting: True}


def test_a_run_that_waits_beyond_its_time_is_late_and_one_that_was_withdrawn_before_is_not(
    api: Api, database: Database
) -> None:
    busy(api)
    late, withdrawn = (api.launch(config=LONG)["id"] for _ in range(2))
    follow(database)
    api.act(withdrawn, "stop")
    follow(database)
    assert [row.run_id for row in stored(database)] == [late]
    pass_stated_times(database)
    follow(database)
    found = read(database)
    assert (found["undisturbed"]["forecasts"], found["undisturbed"]["on_time"]) == (1, 0)
    api.act(late, "stop")
    follow(database)
    assert read(database)["undisturbed"] == found["undisturbed"], "it stays late"
    assert not stored(database)[0].is_waiting


def test_a_launch_of_many_runs_is_stored_in_bounded_passes(
    api: Api, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arcadia_backend.runs.start_forecasts.MAX_STORED_RUNS", 2)
    busy(api)
    for _ in range(5):
        api.launch(config=LONG)
    counts = []
    for _ in range(4):
        follow(database)
        counts.append(len(stored(database)))
    assert counts == [2, 4, 5, 5]


def test_without_enough_earlier_runs_no_time_is_stated_and_without_workers_nothing_is_stored(
    api: Api, database: Database
) -> None:
    api.launch(config=LONG)
    follow(database)
    assert stored(database) == []
    busy_run = api.claim()
    api.beat("w1", run={"id": busy_run["run_id"], "attempt": busy_run["attempt"]})
    api.launch(config=LONG)
    follow(database)
    assert [row.by_at for row in stored(database)] == [None]
    found = read(database)
    assert (found["without_time"], found["all"]["forecasts"], found["all"]["share"]) == (1, 0, None)


def test_forecasts_are_deleted_with_their_run_and_after_a_year(api: Api, database: Database) -> None:
    busy(api)
    first, second = (api.launch(config=LONG)["id"] for _ in range(2))
    follow(database)
    with acting_as(BACKEND), database.write() as session:
        session.delete(session.get_one(Run, first))
    assert [row.run_id for row in stored(database)] == [second]
    with acting_as(BACKEND), database.write() as session:
        delete_old(session, utc_now() + KEPT - timedelta(hours=1))
    assert len(stored(database)) == 1
    with acting_as(BACKEND), database.write() as session:
        delete_old(session, utc_now() + KEPT + timedelta(hours=1))
    assert stored(database) == []


def fill(database: Database, run_id: int, outcomes: Iterable[lab.Outcome], *, work_added: bool = False) -> None:
    """Store forecasts as if they were of one run, with what happened."""
    now = utc_now()
    with acting_as(BACKEND), database.write() as session:
        for number, each in enumerate(outcomes):
            assert each.by is not None
            # All stated times are in the past, and the last run started long ago.
            made = now - timedelta(hours=each.by + 1, seconds=number / 1000)
            started = made + timedelta(hours=each.actual)
            session.add(
                StartForecast(
                    run_id=run_id, queue="cpu", attempt=1, queued_at=made, made_at=made, runs_ahead=number,
                    expected_at=made + timedelta(hours=each.expected), by_at=made + timedelta(hours=each.by),
                    started_at=None if started > now else started, is_waiting=started > now, work_added=work_added,
                )
            )  # fmt: skip


def test_the_numbers_of_a_simulated_lab_equal_those_computed_directly(api: Api, database: Database) -> None:
    outcomes = [each for each in lab.play(1, hours_between=24, days=6)[1] if each.by is not None]
    assert len(outcomes) > 100
    run_id = api.launch()["id"]
    fill(database, run_id, outcomes)
    fill(database, run_id, [lab.Outcome(1, 1.0, 2.0, 4.0)] * 20, work_added=True)
    found = read(database, days=365)
    on_time = sum(each.actual <= each.by for each in outcomes if each.by is not None)
    assert found["undisturbed"]["forecasts"] == len(outcomes)
    assert found["undisturbed"]["on_time"] == on_time
    assert found["undisturbed"]["share"] == pytest.approx(on_time / len(outcomes))
    assert (found["all"]["forecasts"], found["all"]["on_time"]) == (len(outcomes) + 20, on_time)
    has_started = [each for each in outcomes if each.by is not None and each.actual <= each.by + 1]
    errors = [abs(each.expected - each.actual) / max(each.actual, 1 / 3600) for each in has_started]
    assert found["relative_error"] == pytest.approx(median(errors), rel=1e-3)
    assert sum(each["forecasts"] for each in found["waits"]) == len(outcomes)
    assert all(each["early"] <= each["middle"] <= each["late"] for each in found["waits"])


@pytest.mark.parametrize(("days", "spread"), [(10, 0.0), (20, 0.15), (30, 0.3)])
def test_the_interval_covers_the_true_share_also_if_the_runs_of_a_day_are_alike(days: int, spread: float) -> None:
    random, now, covered = np.random.default_rng(3), utc_now(), 0
    for _ in range(400):
        outcomes = []
        for day in range(days):
            # The mean over all days is 0.9 in truth.
            chance = 0.9 if spread == 0 else random.beta(0.9 * (1 / spread - 1), 0.1 * (1 / spread - 1))
            made = now - timedelta(days=day)
            for hit in random.random(random.integers(5, 40)) < chance:
                by = made + timedelta(hours=1)
                start = made if hit else by + timedelta(hours=1)
                outcomes.append(DueForecast(made, made, by, start, False, False))
        found = score(outcomes)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.9 <= found.high
    assert covered / 400 >= 0.9


def test_few_forecasts_or_days_have_no_share_or_interval() -> None:
    now = utc_now()
    one = DueForecast(now, now, now, now, False, False)
    assert score([one] * 9).share is None
    assert (score([one] * 10).share, score([one] * 10).low) == (1.0, None)
    spread = [one._replace(made_at=now - timedelta(days=day)) for day in range(5)] * 4
    found = score(spread)
    assert found.share == found.high == 1.0
    assert found.low is not None
    assert found.low < 0.6, "five days that are alike are worth five cases"


def test_people_see_sums_of_hidden_runs_and_no_rows(api: Api, database: Database) -> None:
    run_id = api.launch()["id"]
    fill(database, run_id, [lab.Outcome(1, 1.0, 2.0, 1.5)] * 12)
    with acting_as(Scope(everything=False, projects={}, person_id=1)), database.read() as session:
        assert session.scalars(select(StartForecast)).all() == []
        assert read_calibration(session, 30).undisturbed.on_time == 12
    found = api.user.get("/api/v1/start-forecasts", params={"days": 90}).json()
    assert found["undisturbed"]["on_time"] == 12
    assert "run_id" not in str(found)
    refused = api.user.get("/api/v1/start-forecasts", params={"days": 0})
    assert refused.status_code == 422
