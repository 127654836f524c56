"""Device of the network, the CPU threads that it uses, and CUDA graphs."""

import os
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

import torch
from torch import Tensor

from arcadia_workers.contract.config import Device, TrainingConfig
from arcadia_workers.trainer.errors import TrainerError


class DeviceError(TrainerError):
    """The configured device does not exist on this machine."""


def resolve(device: Device) -> torch.device:
    """Return the torch device. Auto means a GPU if one exists."""
    if device == "cuda" and not torch.cuda.is_available():
        raise DeviceError("device is cuda, but this machine has no GPU that torch can use: choose auto or cpu")
    return torch.device("cuda" if device != "cpu" and torch.cuda.is_available() else "cpu")


def describe(device: torch.device) -> str:
    """Name the device: cpu, or cuda with the name of the GPU."""
    return f"cuda ({torch.cuda.get_device_name(device)})" if device.type == "cuda" else device.type


def restore_generator(random: torch.Generator, state: torch.Tensor) -> None:
    """Restore a generator's state. If another kind of device saved it, the generator keeps its seed."""
    if len(state) == len(random.get_state()):
        random.set_state(state)


def cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shares_of_cores(number: int) -> list[set[int] | None]:
    """Divide the cores into equal shares of neighbors, or return None for each if that is not possible."""
    if not hasattr(os, "sched_setaffinity") or cores() % number:
        return [None] * number
    own, size = sorted(os.sched_getaffinity(0)), cores() // number
    return [set(own[i * size : (i + 1) * size]) for i in range(number)]


def set_threads(config: TrainingConfig, device: torch.device) -> None:
    """Use the cores that the emulators leave free for the network. In Atari games both run at the same time.

    If threads outnumber the free cores, they wait for each other at every layer. On two busy cores this cost nine
    tenths of the speed. A network for vectors is too small to split, and on a GPU the CPU has nothing to split.
    """
    shared = device.type == "cpu" and config.environment.family.steps_in_threads
    compute_in(max(1, torch.get_num_threads() // 2) if shared else 1)


def compute_in(threads: int) -> None:
    """Set the number of torch's threads, and flush numbers below 1e-38 to zero in them and in threads they start.

    The mean square of a dead unit decays to such numbers within about 9,000 updates. An Intel CPU takes seven times
    as long to compute with them.
    """
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)


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
