"""Tests for how the end of a trainer determines the outcome of its run."""

import os

import pytest

from arcadia_workers.contract.worker_api import Outcome
from arcadia_workers.worker.assignment import Ending, StopReason, ending_of_leftover, ending_of_trainer

FAILED = {"kind": "failed", "message": "it broke", "traceback": "here"}


@pytest.mark.parametrize(
    ("returncode", "last", "stop_reason", "outcome"),
    [
        (0, "finished", None, "finished"),
        (0, "finished", "stopped", "finished"),
        (-9, "finished", None, "finished"),
        (0, "stopped", "stopped", "stopped"),
        (0, "stopped", "drained", "drained"),
        (0, "stopped", None, "drained"),
        (0, "metrics", None, "failed"),
        (0, None, None, "failed"),
        (3, "metrics", "stopped", "failed"),
        (-9, "metrics", None, "lost"),
        (-11, None, None, "lost"),
        (-15, None, "stopped", "stopped"),
        (-9, "metrics", "drained", "drained"),
    ],
)
def test_the_last_event_decides_then_the_exit_status(
    returncode: int, last: str | None, stop_reason: StopReason | None, outcome: str
) -> None:
    event = {"kind": last} if last else None
    assert ending_of_trainer(returncode, event, "", stop_reason, timed_out=False).outcome == outcome


def test_a_failure_is_reported_with_the_trainers_message() -> None:
    assert ending_of_trainer(1, FAILED, "other words", None, timed_out=False) == Ending("failed", "it broke", "here")
    sentence = {**FAILED, "traceback": ""}
    assert ending_of_trainer(1, sentence, "other words", None, timed_out=False) == Ending("failed", "it broke", None)


def test_without_an_event_standard_error_gives_the_reason() -> None:
    ending = ending_of_trainer(2, None, "config.json:\nno such game\n", None, timed_out=False)
    assert ending.message == "The trainer exited with status 2: no such game"
    assert ending.traceback == "config.json:\nno such game\n"


@pytest.mark.parametrize(("stop_reason", "outcome"), [(None, "lost"), ("stopped", "stopped"), ("drained", "drained")])
def test_a_trainer_that_lost_its_processes_can_continue(stop_reason: StopReason | None, outcome: Outcome) -> None:
    ending = ending_of_trainer(os.EX_TEMPFAIL, {"kind": "checkpoint"}, "a line\nRay was killed.", stop_reason, False)
    assert ending == Ending(outcome, "Ray was killed.")


def test_the_signal_that_killed_a_trainer_is_named() -> None:
    ending = ending_of_trainer(-11, {"kind": "metrics"}, "Fatal Python error", None, timed_out=False)
    assert ending == Ending("lost", "The trainer was killed by SIGSEGV.", "Fatal Python error")


@pytest.mark.parametrize(
    ("last", "outcome"),
    [("finished", "finished"), ("stopped", "drained"), ("failed", "failed"), ("metrics", "lost"), (None, "lost")],
)
def test_the_outcome_of_a_killed_workers_run_follows_from_its_last_event(last: str | None, outcome: str) -> None:
    assert ending_of_leftover({**FAILED, "kind": last} if last else None).outcome == outcome
