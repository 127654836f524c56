"""The order of waiting work, and the forecasts of starts, as pure functions."""

import random

import pytest

from arcadia_backend.runs.order import HALF_LIFE_HOURS, WaitingWork, order, weight
from arcadia_backend.runs.starts import (
    Durations,
    PastRun,
    Slot,
    forecast_starts,
    measure_slowness,
    on_typical_worker,
    remaining_durations,
    waiting_durations,
)

HOUR = 3_600.0


def ids(works: list[WaitingWork]) -> list[int]:
    """Return the ids of work in its order."""
    return [work.id for work in works]


def test_one_owner_gets_priority_then_age() -> None:
    waiting = [
        WaitingWork(1, created=5),
        WaitingWork(2, created=3),
        WaitingWork(3, created=9, priority=1),
        WaitingWork(4, created=3),
    ]
    assert ids(order(waiting, {})) == [3, 2, 4, 1]


def test_the_owner_with_less_use_goes_first_whatever_the_age() -> None:
    waiting = [WaitingWork(1, created=1, owner=1), WaitingWork(2, created=9, owner=2)]
    assert ids(order(waiting, {1: 10.0, 2: 9.0})) == [2, 1]
    assert ids(order(waiting, {1: 10.0, 2: 9.0}, {1: 2.0})) == [1, 2], "half of the use per share"


def test_priority_goes_before_use() -> None:
    waiting = [WaitingWork(1, created=1, owner=1, priority=1), WaitingWork(2, created=1, owner=2)]
    assert ids(order(waiting, {1: 1_000.0})) == [1, 2]


def test_owners_take_turns_because_placed_work_is_charged() -> None:
    many = [WaitingWork(number, created=number, owner=1) for number in range(4)]
    few = [WaitingWork(number, created=number, owner=2, hours=2.0) for number in (10, 11)]
    assert ids(order([*many, *few], {})) == [0, 10, 1, 2, 11, 3]


def test_the_first_work_depends_only_on_the_first_of_each_owner() -> None:
    # A claim reads only these.
    draw = random.Random(3)
    for _ in range(50):
        waiting = [WaitingWork(n, draw.random(), draw.randrange(2), draw.randrange(5)) for n in range(30)]
        use: dict[int | None, float] = {owner: draw.random() * 5 for owner in range(5)}
        heads: dict[int | None, WaitingWork] = {}
        for work in sorted(waiting, key=lambda work: (-work.priority, work.created)):
            heads.setdefault(work.owner, work)
        assert order(waiting, use)[0] == order(heads.values(), use)[0]


def test_use_counts_half_after_a_week() -> None:
    assert weight(0) == 1
    assert weight(HALF_LIFE_HOURS) == pytest.approx(0.5)


def hours(*values: float) -> Durations:
    """Return durations in hours."""
    return Durations(tuple(value * HOUR for value in values))


def test_work_starts_when_the_slots_ahead_are_free() -> None:
    waiting = [WaitingWork(number, created=number) for number in (1, 2, 3)]
    starts = forecast_starts(waiting, dict.fromkeys((1, 2, 3), hours(2)), [Slot(), Slot(free_in=hours(1))], {})
    assert {number: start.expected / HOUR for number, start in starts.items()} == {1: 0, 2: 1, 3: 2}
    assert all(start.by == start.expected for start in starts.values()), "nothing is uncertain"


def test_the_stated_time_covers_nine_of_ten_draws() -> None:
    waiting = [WaitingWork(1, created=1), WaitingWork(2, created=2)]
    durations = {1: hours(*range(1, 101)), 2: hours(1)}
    start = forecast_starts(waiting, durations, [Slot()], {})[2]
    assert start.by is not None
    assert start.expected / HOUR == pytest.approx(50, abs=12)
    assert start.by / HOUR == pytest.approx(90, abs=6)


def test_a_slow_host_takes_longer() -> None:
    waiting = [WaitingWork(1, created=1), WaitingWork(2, created=2)]
    starts = forecast_starts(waiting, {1: hours(2), 2: hours(1)}, [Slot(slowness=1.5)], {})
    assert starts[2].expected == 3 * HOUR


def test_forecasts_follow_the_order_of_owners() -> None:
    waiting = [WaitingWork(1, 1, owner=1), WaitingWork(2, 2, owner=1), WaitingWork(3, 3, owner=2)]
    starts = forecast_starts(waiting, dict.fromkeys((1, 2, 3), hours(1)), [Slot()], {1: 0.0, 2: 0.5})
    assert {number: start.expected / HOUR for number, start in starts.items()} == {1: 0, 3: 1, 2: 2}


def test_work_passes_over_hosts_that_lack_a_label_and_delays_nobody() -> None:
    waiting = [WaitingWork(1, 1, needs=frozenset({"rare"})), WaitingWork(2, 2)]
    slots = [Slot(), Slot(offers=frozenset({"rare"}), free_in=hours(3))]
    starts = forecast_starts(waiting, {1: hours(5), 2: hours(1)}, slots, {})
    assert {number: start.expected / HOUR for number, start in starts.items()} == {1: 3, 2: 0}


def test_behind_work_of_unknown_duration_the_start_is_unknown() -> None:
    waiting = [WaitingWork(1, 1), WaitingWork(2, 2)]
    assert forecast_starts(waiting, {1: None, 2: hours(1)}, [Slot()], {}).keys() == {1}
    assert forecast_starts(waiting, {1: hours(1), 2: None}, [Slot(free_in=None)], {}) == {}
    assert forecast_starts(waiting, {1: None, 2: None}, [], {}) == {}


def test_few_earlier_runs_give_no_statement_about_nine_of_ten() -> None:
    few = waiting_durations([PastRun(0.1, 1.0)] * 4, 1_000)
    enough = waiting_durations([PastRun(0.1, 1.0)] * 5, 1_000)
    waiting = [WaitingWork(1, 1), WaitingWork(2, 2), WaitingWork(3, 3)]
    starts = forecast_starts(waiting, {1: enough, 2: few, 3: few}, [Slot()], {})
    assert [starts[number].by for number in (1, 2, 3)] == [0, 100, None]
    assert starts[3].expected == 200


def test_runs_that_ended_early_shorten_what_is_expected() -> None:
    past = [PastRun(1.0, 1.0)] * 3 + [PastRun(1.0, 0.1)] * 3
    waiting = waiting_durations(past, 100, startup=5.0)
    assert waiting is not None
    assert sorted({*waiting.seconds}) == [15.0, 105.0]
    # It has trained longer than the runs that ended early, so that these say nothing about it.
    assert {*remaining_durations(past, elapsed=20, left=80).seconds} == {80.0}
    assert {*remaining_durations(past, elapsed=5, left=95).seconds} == {5.0, 95.0}


def test_the_speed_of_workers_is_measured_from_equal_runs() -> None:
    history = [
        [PastRun(1.0, 1.0, "a"), PastRun(3.0, 1.0, "b"), PastRun(2.0, 1.0, "c")],
        [PastRun(10.0, 1.0, "a"), PastRun(30.0, 1.0, "b"), PastRun(20.0, 1.0, "c")],
    ]
    slowness = measure_slowness(history)
    assert slowness == {"a": 0.5, "b": 1.5, "c": 1.0}
    assert {run.seconds_per_step for run in on_typical_worker(history[0], slowness)} == {2.0}
