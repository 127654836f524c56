"""Room of hosts: which runs fit, on which GPU, and which may start before a larger one that waits."""

import itertools
import math

import numpy as np
import pytest

from arcadia_backend.runs.room import GpuRoom, Held, Room, Size, fits_in, may_start_before, room_beside

GPUS = (GpuRoom(0, 10, 10), GpuRoom(1, 24, 24))
HOST = Room(cores=8, memory=32, labels=frozenset({"a100"}), gpus=GPUS)


@pytest.mark.parametrize(
    ("size", "fits"),
    [
        (Size(8, 32, 24), True),
        (Size(8.5, 1, 1), False),
        (Size(1, 33, 1), False),
        (Size(1, 1, 25), False),
        (Size(1, 1, None), True),
        (Size(1, 1, 1, frozenset({"a100"})), True),
        (Size(1, 1, 1, frozenset({"a100", "big"})), False),
    ],
)
def test_a_run_fits_if_everything_is_free(size: Size, fits: bool) -> None:
    assert HOST.fits(size) is fits


def test_runs_share_a_gpu_and_leave_others_whole() -> None:
    room = HOST
    chosen = []
    for _ in range(3):
        size = Size(1, 1, 4)
        gpu = room.choose_gpu(size)
        chosen.append(gpu)
        room = room.without(size, gpu)
    assert chosen == [0, 0, 1]
    # A run without a known need takes a whole GPU, and none is left.
    assert not room.fits(Size(1, 1, None))
    assert room_beside(HOST, [Held(Size(1, 1, 4), 0)]).choose_gpu(Size(1, 1, None)) == 1


def test_a_host_without_known_gpus_takes_every_run() -> None:
    room = Room(8, 32)
    assert room.fits(Size(1, 1, 100))
    assert room.choose_gpu(Size(1, 1, 100)) is None


def test_a_large_run_waits_for_those_that_end_first() -> None:
    held = [Held(Size(3, 1), None, 50), Held(Size(3, 1), None, 10), Held(Size(2, 1), None, 90)]
    host = Room(8, 32)
    assert fits_in(host, held, Size(4, 1))[0] == 50
    assert fits_in(host, held, Size(8, 1))[0] == 90
    assert fits_in(host, held, Size(9, 1))[0] == math.inf
    assert fits_in(host, held[:2], Size(2, 1))[0] == 0


def test_a_small_run_starts_before_a_large_one_only_if_it_does_not_delay_it() -> None:
    host, held, large = Room(8, 32), [Held(Size(6, 1), None, 100)], Size(6, 1)
    starts_in, room = fits_in(host, held, large)
    assert starts_in == 100
    assert may_start_before(Size(2, 1), math.inf, large, starts_in, room)  # beside it
    assert may_start_before(Size(3, 1), 100, large, starts_in, room)  # it ends before
    assert not may_start_before(Size(3, 1), 101, large, starts_in, room)


def test_what_starts_before_never_delays_the_first_run() -> None:
    """Compare with a literal schedule: the first run starts as early as if nothing had been started before it."""
    random = np.random.default_rng(5)
    started = 0
    for _ in range(2_000):
        held = [Held(Size(int(random.integers(1, 5)), 1), None, float(random.integers(1, 100))) for _ in range(3)]
        host, large = Room(int(random.integers(8, 13)), 100), Size(int(random.integers(4, 9)), 1)
        small, seconds = Size(int(random.integers(1, 5)), 1), float(random.integers(1, 120))
        if room_beside(host, held).fits(large) or not room_beside(host, held).fits(small):
            continue
        starts_in, room = fits_in(host, held, large)
        if may_start_before(small, seconds, large, starts_in, room):
            started += 1
            with_small = [*held, Held(small, None, seconds)]
            times = sorted({0.0, *(run.ends_in for run in with_small)})
            literal = next(
                time
                for time in times
                if sum(run.size.cores for run in with_small if run.ends_in > time) + large.cores <= host.cores
            )
            assert literal == starts_in
    assert started > 200


def test_all_orders_of_ends_give_the_same_start() -> None:
    held = [Held(Size(2, 1), None, 5), Held(Size(3, 1), None, 7), Held(Size(1, 1), None, 9)]
    assert {fits_in(Room(6, 9), each, Size(4, 1))[0] for each in itertools.permutations(held)} == {7}
