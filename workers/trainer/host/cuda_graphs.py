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
# Each graph keeps its own memory on the GPU. Work beyond this limit runs without one.
MAX_GRAPHS = 128

Argument = Tensor | slice | float


def graphed(work: Callable[..., Result], device: torch.device) -> Callable[..., Result]:
    """Return the work unchanged for a CPU, or as a CUDA graph for a GPU.

    The work takes tensors, slices and floats and must not branch on their values. Tensors on the GPU use the same
    memory in every call. Tensors on the CPU and floats are copied to the GPU for each call, floats as tensors. The
    result is valid until the next call.
    """
    return Graphed(work) if device.type == "cuda" else work


class Graphed(Generic[Result]):
    """Work that is recorded as a CUDA graph for each set of tensors and slices.

    Several threads may call it at the same time if their tensors and slices differ.
    """

    # torch cannot record two graphs at the same time.
    _recording = threading.Lock()

    def __init__(self, work: Callable[..., Result]) -> None:
        self._work = work
        self._recordings: dict[tuple[object, ...], RecordedWork[Result]] = {}
        self._calls: dict[tuple[object, ...], int] = {}

    def __call__(self, *arguments: Argument) -> Result:
        signature = tuple(map(_signature, arguments))
        if signature not in self._recordings:
            with self._recording:
                calls = self._calls[signature] = self._calls.get(signature, 0) + 1
                recording = RecordedWork(self._work, arguments)
                if calls <= WARM_UP_CALLS or len(self._recordings) >= MAX_GRAPHS:
                    return recording.run()
                recording.record()
                self._recordings[signature] = recording
        return self._recordings[signature].replay(arguments)


class RecordedWork(Generic[Result]):
    """One CUDA graph with the arguments that it reads."""

    def __init__(self, work: Callable[..., Result], arguments: tuple[Argument, ...]) -> None:
        self._work = work
        self._arguments = [each if isinstance(each, slice) else torch.as_tensor(each).cuda() for each in arguments]
        self._graph = torch.cuda.CUDAGraph()

    def run(self) -> Result:
        """Run the work without recording it."""
        return self._work(*self._arguments)

    def record(self) -> None:
        """Record the kernels of the work without running them."""
        # Other threads may use the GPU at the same time.
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            self._result = self.run()

    def replay(self, arguments: tuple[Argument, ...]) -> Result:
        """Run the recorded kernels with these floats and tensors on the CPU."""
        for own, argument in zip(self._arguments, arguments, strict=True):
            if isinstance(own, slice):
                continue
            if isinstance(argument, float):
                own.fill_(argument)
            elif isinstance(argument, Tensor) and not argument.is_cuda:
                own.copy_(argument, non_blocking=True)
        self._graph.replay()
        return self._result


def _signature(argument: Argument) -> object:
    """Return a key that distinguishes tensors by shape and by memory on the GPU, and slices by bounds."""
    if isinstance(argument, Tensor):
        return argument.data_ptr() if argument.is_cuda else None, argument.shape
    return (argument.start, argument.stop) if isinstance(argument, slice) else None
