"""Work on a tensor's rows in several threads that compute independently.

torch's own threads split one kernel, and in some convolution kernels they spin while they wait for each other. On an
idle machine that is as fast, but as soon as anything else needs a core, nine tenths of the rate are lost.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

import torch

Result = TypeVar("Result")


class SideBySide:
    """A number of threads, the caller's included, that take equal shares of rows."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        # Without this, torch would use every core in a new thread.
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
