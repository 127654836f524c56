"""Threads that compute independently, each on its own share of the cores.

torch's own threads split one kernel, and in some convolution kernels they spin while they wait for each other. On an
idle machine this is as fast. But as soon as anything else needs a core, nine tenths of the speed are lost.

Linux moves threads between cores too rarely for threads that run for milliseconds. In a test, two threads shared one
of two cores for ten milliseconds while the other core was idle. So if a run uses all cores, each thread and its
children are pinned to a share of them.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise, zip_longest
from typing import TypeVar

import torch

Item = TypeVar("Item")
Result = TypeVar("Result")


class SideBySide:
    """Pool of threads, optionally pinned to shares of the cores. A single item runs in the caller's thread."""

    def __init__(self, threads: int, shares: Sequence[set[int] | None] = ()) -> None:
        torch_threads = torch.get_num_threads()
        self._threads = [
            ThreadPoolExecutor(1, f"side-by-side-{i}", initializer=_begin, initargs=(torch_threads, share))
            for i, share in zip_longest(range(threads), shares)
        ]

    def __call__(self, work: Callable[[slice], Result], rows: int) -> list[Result]:
        """Run the work on equal shares of rows. Return the results in the order of the rows."""
        threads = min(len(self._threads), rows)
        return self.each(work, [slice(*pair) for pair in pairwise(rows * i // threads for i in range(threads + 1))])

    def each(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Run the work on each item, always in the same thread. Return the results in order."""
        if len(items) == 1:
            return [work(items[0])]
        begun = [thread.submit(work, item) for thread, item in zip(self._threads[: len(items)], items, strict=True)]
        wait(begun)  # if one fails, all must end before the caller sees the error
        return [one.result() for one in begun]


def _begin(torch_threads: int, cores: set[int] | None) -> None:
    # Without this, torch would use every core in a new thread.
    torch.set_num_threads(torch_threads)
    if cores:
        os.sched_setaffinity(0, cores)


ALONE = SideBySide(threads=1)
