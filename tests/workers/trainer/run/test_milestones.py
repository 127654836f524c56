"""Tests for mean returns that trigger a checkpoint before the next scheduled one."""

from arcadia_workers.trainer.run.progress import MILESTONE_SECONDS, Milestones


def test_the_first_solve_is_a_milestone_immediately_and_only_once() -> None:
    milestones = Milestones(solved_at=475.0, best=None)
    assert not milestones.is_reached(20.0, now=0.0)
    milestones.reach(400.0, now=1.0)
    assert not milestones.is_reached(474.0, now=2.0)
    assert milestones.is_reached(475.0, now=2.0)
    assert milestones.is_first_solve(475.0)
    milestones.reach(475.0, now=2.0)
    assert not milestones.is_first_solve(500.0)
    assert not milestones.is_reached(500.0, now=3.0)


def test_a_clearly_better_mean_is_a_milestone_once_enough_time_has_passed() -> None:
    milestones = Milestones(solved_at=None, best=None)
    assert not milestones.is_reached(0.0, now=0.0)
    assert milestones.is_reached(100.0, now=0.0)
    milestones.reach(100.0, now=0.0)
    assert not milestones.is_reached(200.0, now=MILESTONE_SECONDS - 1)
    assert milestones.is_reached(200.0, now=MILESTONE_SECONDS)
    assert not milestones.is_reached(105.0, now=MILESTONE_SECONDS)
    assert not milestones.is_reached(50.0, now=MILESTONE_SECONDS)


def test_negative_returns_also_have_milestones() -> None:
    milestones = Milestones(solved_at=-100.0, best=None)
    assert not milestones.is_reached(-500.0, now=0.0)
    milestones.reach(-300.0, now=0.0)
    assert not milestones.is_reached(-295.0, now=MILESTONE_SECONDS)
    assert milestones.is_reached(-280.0, now=MILESTONE_SECONDS)
    assert milestones.is_reached(-100.0, now=1.0)


def test_a_resumed_run_knows_its_best_mean() -> None:
    milestones = Milestones(solved_at=475.0, best=490.0)
    assert not milestones.is_reached(480.0, now=0.0)
    assert not milestones.is_first_solve(480.0)
