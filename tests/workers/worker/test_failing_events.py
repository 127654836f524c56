"""When an event is held to be the one that the backend cannot take."""

import math
import time

from workers.worker.failing_events import EVENT_ATTEMPTS, FailingEvents


def failed_often(suspicion: FailingEvents, first: int, last: int) -> None:
    """Let a batch fail until its events are asked for one by one."""
    for _ in range(EVENT_ATTEMPTS):
        assert not suspicion.should_skip(first, last, accepted_at=-math.inf)


def test_batches_are_halved_until_an_event_stands_alone() -> None:
    suspicion = FailingEvents()
    failed_often(suspicion, 1, 8)
    assert suspicion.batch_limit == 4
    suspicion.should_skip(1, 4, accepted_at=-math.inf)
    assert suspicion.batch_limit == 2
    suspicion.delivered(8)
    assert suspicion.batch_limit > 8


def test_an_event_is_left_out_only_if_the_backend_took_something_else_between_two_failures_on_it() -> None:
    suspicion = FailingEvents()
    failed_often(suspicion, 5, 5)
    assert not suspicion.should_skip(5, 5, accepted_at=-math.inf), "the backend fails on everything"
    assert suspicion.should_skip(5, 5, accepted_at=time.monotonic())
    assert not suspicion.should_skip(6, 6, accepted_at=time.monotonic()), "the next event has failed only once"
    assert suspicion.should_skip(6, 6, accepted_at=time.monotonic())
