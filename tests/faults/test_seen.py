"""Phases of a recovery, and their report."""

from tests.faults.gusts import Part
from tests.faults.seen import Phases, Seen


def test_the_phases_add_up_to_the_recovery_time() -> None:
    assert Phases.between((10.0, 11.0, 13.0, 20.0, 21.0, 21.5)) == Phases(1.0, 2.0, 7.0, 1.0, 0.5)


def test_a_phase_that_ended_before_the_kill_took_no_time() -> None:
    assert Phases.between((10.0, 5.0, 6.0, 7.0, 12.0, 13.0)) == Phases(0.0, 0.0, 0.0, 2.0, 1.0)


def test_the_report_names_the_phases_and_a_wrong_evaluation_is_a_fault() -> None:
    seen = Seen(phases=[("worker", Phases(1.0, 2.0, 7.0, 1.0, 0.5))], evaluations_wrong=["evaluation 3 is failed"])
    assert "worker   |    1.0 s |    2.0 s |    7.0 s |    1.0 s |    0.5 s" in seen.report()
    assert seen.faults() == ["evaluation: evaluation 3 is failed"]


def test_a_busy_machine_has_more_time_to_recover() -> None:
    ways_back: list[tuple[Part, float]] = [("worker", 45.0)]
    assert Seen(ways_back=ways_back, loads=[25.0]).faults() == []
    assert Seen(ways_back=ways_back, loads=[12.0]).faults() == ["late: 45.0 s after the kill of worker"]
