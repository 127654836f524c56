"""When an event is held to be the one that the backend cannot take."""

import math
import time

from workers.worker.suspicion import TRIES, Suspicion


def failed_often(suspicion: Suspicion, first: int, last: int) -> None:
    """Let a batch fail until its events are asked for one by one."""
    for _ in range(TRIES):
        assert not suspicion.proven(first, last, heard=-math.inf)


def test_batches_are_halved_until_an_event_stands_alone() -> None:
    suspicion = Suspicion()
    failed_often(suspicion, 1, 8)
    assert suspicion.most == 4
    suspicion.proven(1, 4, heard=-math.inf)
    assert suspicion.most == 2
    suspicion.delivered(8)
    assert suspicion.most > 8


def test_an_event_is_left_out_only_if_the_backend_took_something_else_between_two_failures_on_it() -> None:
    suspicion = Suspicion()
    failed_often(suspicion, 5, 5)
    assert not suspicion.proven(5, 5, heard=-math.inf), "the backend fails on everything"
    assert suspicion.proven(5, 5, heard=time.monotonic())
    assert not suspicion.proven(6, 6, heard=time.monotonic()), "the next event has failed only once"
    assert suspicion.proven(6, 6, heard=time.monotonic())
