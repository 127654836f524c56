"""Work in several threads that compute independently, each on its own share of the cores.

torch's own threads split one kernel, and in some convolution kernels they spin while they wait for each other. On an
idle machine that is as fast, but as soon as anything else needs a core, nine tenths of the rate are lost.

Linux moves threads between cores too seldom for threads that run for milliseconds: two of them were seen to take turns
on one of two cores for ten milliseconds while the other idled. So where a run uses all cores, each thread stays on its
share, and so do the threads that it starts.
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
    """A number of threads, each on its share of the cores, if there are shares. A single item needs none of them."""

    def __init__(self, threads: int, shares: Sequence[set[int] | None] = ()) -> None:
        torch_threads = torch.get_num_threads()
        self._threads = [
            ThreadPoolExecutor(1, f"side-by-side-{i}", initializer=_begin, initargs=(torch_threads, share))
            for i, share in zip_longest(range(threads), shares)
        ]

    def __call__(self, work: Callable[[slice], Result], rows: int) -> list[Result]:
        """Do the work for equal shares of rows, and return the results in the order of the rows."""
        threads = min(len(self._threads), rows)
        return self.each(work, [slice(*pair) for pair in pairwise(rows * i // threads for i in range(threads + 1))])

    def each(self, work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Do the work for each item, one a thread and always the same, and return the results in their order."""
        if len(items) == 1:
            return [work(items[0])]
        begun = [thread.submit(work, item) for thread, item in zip(self._threads[: len(items)], items, strict=True)]
        wait(begun)  # if one fails, none may still be at work when the caller hears of it
        return [one.result() for one in begun]


def _begin(torch_threads: int, cores: set[int] | None) -> None:
    # Without this, torch would use every core in a new thread.
    torch.set_num_threads(torch_threads)
    if cores:
        os.sched_setaffinity(0, cores)


ALONE = SideBySide(threads=1)
