"""CUDA graphs: GPU work whose kernels start together.

The networks of the papers are so small that a GPU computes a kernel in a few microseconds, while starting one from
Python takes the CPU several times as long. A CUDA graph records the kernels once and then starts all of them at once.
"""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import torch
from torch import Tensor

Result = TypeVar("Result")

# Before kernels can be recorded, libraries must be loaded and buffers allocated.
WARM_UP_CALLS = 3


def graphed(work: Callable[..., Result], device: torch.device) -> Callable[..., Result]:
    """Return the work unchanged for a CPU, or as a CUDA graph for a GPU.

    The work takes tensors, slices and floats and must not branch on their values. Its tensors use the same memory in
    every call. On a GPU it receives each float as a tensor, and its result is valid until the next call.
    """
    return Graphed(work) if device.type == "cuda" else work


class Graphed(Generic[Result]):
    """Work that is recorded as a CUDA graph for each set of tensors and slices. Several threads may call it."""

    def __init__(self, work: Callable[..., Result]) -> None:
        self._work = work
        self._recordings: dict[tuple[object, ...], RecordedWork[Result]] = {}
        self._calls: dict[tuple[object, ...], int] = {}
        self._recording = threading.Lock()

    def __call__(self, *arguments: Tensor | slice | float) -> Result:
        signature = tuple(map(_signature, arguments))
        if signature not in self._recordings:
            with self._recording:
                calls = self._calls[signature] = self._calls.get(signature, 0) + 1
                recording = RecordedWork(self._work, arguments)
                if calls <= WARM_UP_CALLS:
                    return recording.run()
                recording.record()
                self._recordings[signature] = recording
        return self._recordings[signature].replay(arguments)


class RecordedWork(Generic[Result]):
    """One CUDA graph with the arguments that it reads."""

    def __init__(self, work: Callable[..., Result], arguments: tuple[Tensor | slice | float, ...]) -> None:
        self._work = work
        self._arguments = [torch.tensor(each, device="cuda") if isinstance(each, float) else each for each in arguments]
        self._graph = torch.cuda.CUDAGraph()

    def run(self) -> Result:
        """Run the work without recording it."""
        return self._work(*self._arguments)

    def record(self) -> None:
        """Record the kernels of the work without running them."""
        # Other threads may use the GPU at the same time.
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            self._result = self.run()

    def replay(self, arguments: tuple[Tensor | slice | float, ...]) -> Result:
        """Run the recorded kernels with these floats."""
        for own, argument in zip(self._arguments, arguments, strict=True):
            if isinstance(argument, float) and isinstance(own, Tensor):
                own.fill_(argument)
        self._graph.replay()
        return self._result


def _signature(argument: Tensor | slice | float) -> object:
    """Return a key that distinguishes tensors by memory and shape, and slices by bounds."""
    if isinstance(argument, Tensor):
        return argument.data_ptr(), argument.shape
    return (argument.start, argument.stop) if isinstance(argument, slice) else None
