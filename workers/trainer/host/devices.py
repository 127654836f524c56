"""The device that the network runs on, and the CPU threads it uses."""

import os

import torch

from workers.contract.config import Device, TrainingConfig
from workers.trainer.errors import TrainerError


class DeviceError(TrainerError):
    """The configuration asks for a device that this machine lacks."""


def resolve(device: Device) -> torch.device:
    """Return the torch device; auto means a GPU if there is one."""
    if device == "cuda" and not torch.cuda.is_available():
        raise DeviceError("device is cuda, but this machine has no GPU that torch can use: choose auto or cpu")
    return torch.device("cuda" if device != "cpu" and torch.cuda.is_available() else "cpu")


def describe(device: torch.device) -> str:
    """Name the device: cpu, or cuda with the name of the GPU."""
    return f"cuda ({torch.cuda.get_device_name(device)})" if device.type == "cuda" else device.type


def go_on_drawing(random: torch.Generator, state: torch.Tensor) -> None:
    """Set a generator's saved state; where another kind of device drew before, the generator stays as it was seeded."""
    if len(state) == len(random.get_state()):
        random.set_state(state)


def cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def shares_of_cores(number: int) -> list[set[int] | None]:
    """Deal out the cores in equal shares of neighbours; None for each where that is not possible."""
    if not hasattr(os, "sched_setaffinity") or cores() % number:
        return [None] * number
    own, size = sorted(os.sched_getaffinity(0)), cores() // number
    return [set(own[i * size : (i + 1) * size]) for i in range(number)]


def set_threads(config: TrainingConfig, device: torch.device) -> None:
    """Give the network the cores that the emulators leave; in Atari games both work at the same time.

    If threads outnumber the free cores, they wait for each other at every layer; on two busy cores that cost nine
    tenths of the rate. A network for vectors is too small to split, and on a GPU the CPU has nothing to split.
    """
    shared = device.type == "cpu" and config.environment.family.steps_in_threads
    compute_in(max(1, torch.get_num_threads() // 2) if shared else 1)


def compute_in(threads: int) -> None:
    """Have torch compute in so many threads, and take numbers below 1e-38 for zero in them and in threads they start.

    An optimizer's mean square that no gradient feeds, as that of a dead unit, fades to such numbers within some 9,000
    updates and stays there. An Intel processor takes seven times as long for them.
    """
    torch.set_num_threads(threads)
    torch.set_flush_denormal(True)
