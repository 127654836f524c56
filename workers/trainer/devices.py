"""Where the network runs."""

import os

import torch

from workers.trainer.config import Device, RunConfig


class DeviceError(Exception):
    """The configuration asks for a device that this machine has not."""


def resolve(device: Device) -> torch.device:
    """Take a GPU if there is one and none was refused."""
    if device == "cuda" and not torch.cuda.is_available():
        raise DeviceError("device is cuda, but this machine has no GPU that torch can use: choose auto or cpu")
    return torch.device("cuda" if device != "cpu" and torch.cuda.is_available() else "cpu")


def describe(device: torch.device) -> str:
    """Name the device: cpu, or cuda with the name of the GPU."""
    return f"cuda ({torch.cuda.get_device_name(device)})" if device.type == "cuda" else device.type


def cores() -> int:
    """Count the cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def learning_threads(device: torch.device) -> int:
    """Count the threads that may learn side by side while the emulators rest, each with torch's own threads."""
    return 1 if device.type == "cuda" else max(1, cores() // torch.get_num_threads())


def set_threads(config: RunConfig, device: torch.device) -> None:
    """Give the network the cores that the emulators leave: on an Atari game they work at the same time.

    Threads that outnumber the free cores wait for each other at every layer; on two busy cores that cost nine tenths
    of the rate. A vector's network is too small to share, and on a GPU there is nothing to share.
    """
    shared = device.type == "cpu" and config.environment.kind == "atari"
    torch.set_num_threads(max(1, torch.get_num_threads() // 2) if shared else 1)
