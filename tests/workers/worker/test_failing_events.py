"""Tests for finding the event that the backend cannot process."""

import math
import time

from arcadia_workers.worker.spool import EVENT_ATTEMPTS, FailingEvents


def failed_often(suspicion: FailingEvents, first: int, last: int) -> None:
    """Let a batch fail until it must be split."""
    for _ in range(EVENT_ATTEMPTS):
        assert not suspicion.should_skip(first, last, accepted_at=-math.inf)


def test_batches_are_halved_down_to_a_single_event() -> None:
    suspicion = FailingEvents()
    failed_often(suspicion, 1, 8)
    assert suspicion.batch_limit == 4
    suspicion.should_skip(1, 4, accepted_at=-math.inf)
    assert suspicion.batch_limit == 2
    suspicion.delivered(8)
    assert suspicion.batch_limit > 8


def test_an_event_is_skipped_only_if_the_backend_accepted_another_event_between_two_failures() -> None:
    suspicion = FailingEvents()
    failed_often(suspicion, 5, 5)
    assert not suspicion.should_skip(5, 5, accepted_at=-math.inf), "the backend fails on everything"
    assert suspicion.should_skip(5, 5, accepted_at=time.monotonic())
    assert not suspicion.should_skip(6, 6, accepted_at=time.monotonic()), "the next event has failed only once"
    assert suspicion.should_skip(6, 6, accepted_at=time.monotonic())
