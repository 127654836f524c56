"""Work on a tensor's rows in several threads, each of which computes by itself.

Where torch's own threads share one kernel, some kernels of convolutions spin while they wait for each other: alone on
the machine they are as fast, but as soon as anything else needs a core, nine tenths of the rate are lost.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import torch

Result = TypeVar("Result")


class SideBySide:
    """So many threads, the caller's among them, that take equal shares of rows."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        # A new thread would let torch compute with every core.
        self._others = ThreadPoolExecutor(
            threads, "side-by-side", initializer=torch.set_num_threads, initargs=(torch.get_num_threads(),)
        )

    def __call__(self, work: Callable[[slice], Result], rows: int) -> list[Result]:
        """Do the work for each share, and return the results in the order of the rows."""
        threads = min(self._threads, rows)
        borders = [rows * share // threads for share in range(threads + 1)]
        first, *rest = (slice(*pair) for pair in pairwise(borders))
        begun = [self._others.submit(work, share) for share in rest]
        return [work(first), *(share.result() for share in begun)]


ALONE = SideBySide(threads=1)
