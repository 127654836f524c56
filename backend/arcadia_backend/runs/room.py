"""Room of hosts for runs. Pure: no database and no clock.

A host may train several runs at once, each in a slot. A run fits if its cores, memory and GPU memory are free.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Size:
    """What a run takes of a host. Without a known GPU memory it takes a whole GPU."""

    cores: float = 0.0
    memory: float = 0.0
    gpu_memory: float | None = None
    labels: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class GpuRoom:
    """A GPU with the memory that no run of Arcadia holds."""

    index: int
    memory: float
    free: float
    # Whether a run of Arcadia that takes all of it may start.
    is_empty: bool = True

    def fits(self, size: Size) -> bool:
        """Return True if a run fits."""
        return self.is_empty if size.gpu_memory is None else size.gpu_memory <= self.free

    def without(self, size: Size) -> "GpuRoom":
        """Return it with a run that starts."""
        free = 0.0 if size.gpu_memory is None else self.free - size.gpu_memory
        return replace(self, free=free, is_empty=False)


@dataclass(frozen=True, slots=True)
class Room:
    """What a host has free. `gpus` is None if its GPUs are unknown or not used, so that every run fits."""

    cores: float
    memory: float
    labels: frozenset[str] = frozenset()
    gpus: tuple[GpuRoom, ...] | None = None

    def fits(self, size: Size) -> bool:
        """Return True if a run fits."""
        fits = size.labels <= self.labels and size.cores <= self.cores and size.memory <= self.memory
        return fits and (self.gpus is None or any(gpu.fits(size) for gpu in self.gpus))

    def choose_gpu(self, size: Size) -> int | None:
        """Return the GPU for a run: the fullest one with room for it. This keeps other GPUs empty."""
        fitting = [gpu for gpu in self.gpus or () if gpu.fits(size)]
        return min(fitting, key=lambda gpu: (gpu.free, gpu.index)).index if fitting else None

    def without(self, size: Size, gpu: int | None) -> "Room":
        """Return it with a run that starts. The numbers may become negative if a run takes more than was measured."""
        gpus = self.gpus and tuple(each.without(size) if each.index == gpu else each for each in self.gpus)
        return replace(self, cores=self.cores - size.cores, memory=self.memory - size.memory, gpus=gpus)


@dataclass(frozen=True, slots=True)
class Held:
    """A run that trains on a host, and the seconds until it ends: infinity if nobody knows."""

    size: Size
    gpu: int | None = None
    ends_in: float = math.inf


def room_beside(total: Room, held: Iterable[Held]) -> Room:
    """Return what is free on a host beside its runs."""
    room = total
    for run in held:
        room = room.without(run.size, run.gpu)
    return room


def fits_in(total: Room, held: Sequence[Held], size: Size) -> tuple[float, Room]:
    """Return the seconds until a run fits, and the room then. It waits for the runs that end first."""
    by_end = sorted(held, key=lambda run: run.ends_in)
    for ended, seconds in enumerate([0.0, *(run.ends_in for run in by_end)]):
        room = room_beside(total, by_end[ended:])
        if room.fits(size):
            return seconds, room
    return math.inf, total


def may_start_before(size: Size, seconds: float, first: Size, starts_in: float, room_then: Room) -> bool:
    """Return True if a run delays the first one of the queue by nothing: it ends before, or both fit at that time."""
    if seconds <= starts_in:
        return True
    then = room_then.without(first, room_then.choose_gpu(first))
    return then.fits(size)
