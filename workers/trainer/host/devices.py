"""Device of the network, and the CPU threads that it uses."""

import os

import torch

from workers.contract.config import Device, TrainingConfig
from workers.trainer.errors import TrainerError


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
