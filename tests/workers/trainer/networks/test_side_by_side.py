"""Tests for threads that work in parallel, each on a separate share of the cores."""

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from arcadia_workers.trainer.host import devices
from arcadia_workers.trainer.networks.gradients import SideBySide

needs_affinity = pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system does not pin threads")


def test_rows_are_split_into_equal_shares_and_results_keep_their_order() -> None:
    shares = SideBySide(threads=3)(lambda rows: (rows.start, rows.stop), 8)
    assert shares == [(0, 2), (2, 5), (5, 8)]
    assert SideBySide(threads=3)(lambda rows: rows.stop, 2) == [1, 2]


def test_an_item_is_always_processed_by_the_same_thread() -> None:
    side_by_side = SideBySide(threads=2)
    first, second, third = (side_by_side.map(lambda _: threading.get_ident(), "ab") for _ in range(3))
    assert first == second == third
    assert len({*first, threading.get_ident()}) == 3


def test_a_single_item_is_processed_by_the_caller() -> None:
    assert SideBySide(threads=2).map(lambda _: threading.get_ident(), "a") == [threading.get_ident()]


def test_more_items_than_threads_are_refused() -> None:
    with pytest.raises(ValueError, match="longer"):
        SideBySide(threads=2).map(str, [1, 2, 3])


def test_an_error_in_a_thread_reaches_the_caller() -> None:
    def work(item: int) -> int:
        return 1 // item

    with pytest.raises(ZeroDivisionError):
        SideBySide(threads=2).map(work, [1, 0])


def test_threads_use_the_callers_number_of_torch_threads() -> None:
    wanted = torch.get_num_threads()
    assert SideBySide(threads=2).map(lambda _: torch.get_num_threads(), "ab") == [wanted, wanted]


def test_threads_flush_denormals_to_zero_like_the_thread_that_starts_them() -> None:
    def begun_in_training() -> list[float]:
        devices.compute_in(1)
        return SideBySide(threads=2).map(lambda _: (torch.tensor([1e-30]) * 1e-12).item(), "ab")

    with ThreadPoolExecutor(1) as fresh:  # so that the mode of the test's thread does not change
        assert fresh.submit(begun_in_training).result() == [0, 0]


@needs_affinity
def test_threads_and_their_child_threads_stay_on_their_share_of_the_cores() -> None:
    own = sorted(os.sched_getaffinity(0))
    shares = [{own[0]}, {own[-1]}]

    def cores_of_a_new_thread(_item: str) -> set[int]:
        found: list[set[int]] = []
        thread = threading.Thread(target=lambda: found.append(os.sched_getaffinity(0)))
        thread.start()
        thread.join()
        return found[0]

    assert SideBySide(2, shares).map(cores_of_a_new_thread, "ab") == shares
    assert SideBySide(threads=2).map(cores_of_a_new_thread, "ab") == [set(own), set(own)]
    assert os.sched_getaffinity(0) == set(own)
