"""Estimate of the host memory that a run needs, from measured sizes, and the limit of open files."""

import ctypes
import math
import resource
from dataclasses import dataclass
from pathlib import Path

import psutil
import torch

from arcadia_workers.contract.config import TrainingConfig
from arcadia_workers.contract.games import ARCHITECTURES
from arcadia_workers.trainer.errors import TrainerError
from arcadia_workers.trainer.networks.gradients import body_dtype

MEBIBYTE = 2**20
SIDE, FRAMES = 84, 4
# glibc's option numbers: new threads share one arena (M_ARENA_MAX), which returns nothing to the system
# (M_TRIM_THRESHOLD) and holds tensors as large as possible (M_MMAP_THRESHOLD).
MALLOC_OPTIONS = {-8: 1, -1: 2**31 - 1, -3: 32 * MEBIBYTE}
FLOAT = 4


class MemoryShortageError(TrainerError):
    """The configuration needs more memory than this host has."""


@dataclass(frozen=True)
class Need:
    """Memory of one part of a run, and the configuration fields that determine it."""

    what: str
    size: float
    fields: str


# The process with torch, gymnasium and the emulators loaded; forked processes share these pages.
PROGRAM = Need("the program", 350 * MEBIBYTE, "network")


def check(needs: list[Need]) -> None:
    """Raise if the run's needs plus the program's own exceed the free memory. The system would kill it."""
    refuse_if_short([PROGRAM, *needs], "here")


def refuse_if_short(needs: list[Need], where: str) -> None:
    """Raise if the needs together exceed the free memory."""
    total, free = sum(need.size for need in needs), free_memory()
    if total > free:
        largest = max(needs, key=lambda need: need.size)
        raise MemoryShortageError(
            f"this configuration needs about {gibibytes(total)} of memory, {gibibytes(largest.size)} of it for "
            f"{largest.what}, but {gibibytes(free)} are free {where}: lower {largest.fields}"
        )


def state_size(config: TrainingConfig) -> int:
    """Return the bytes of one observation."""
    return FRAMES * SIDE * SIDE if config.environment.shows_pixels else FLOAT * 32


def row_size(config: TrainingConfig, device: torch.device) -> int:
    """Return the host bytes that learning from one step takes: its state, the layers' outputs and their gradients."""
    return prepared_size(config, device) + outputs_size(config, device)


def prepared_size(config: TrainingConfig, device: torch.device) -> int:
    """Return the host bytes of one state in the format that the network reads."""
    reads_bytes = device.type == "cpu" and config.environment.shows_pixels
    return state_size(config) * (body_dtype(config, device).itemsize if reads_bytes else 1)


def outputs_size(config: TrainingConfig, device: torch.device) -> int:
    """Return the host bytes of the layers' outputs for one state and of their gradients."""
    if device.type == "cuda":
        return 0
    kind = config.resolved_network
    if kind == "mlp":
        return 2 * FLOAT * config.hidden_layers * config.hidden_units
    if kind not in ARCHITECTURES:
        return 0  # the outputs of a plug-in's network are unknown, and this is a lower bound
    convolutions, outputs = ARCHITECTURES[kind]
    side = SIDE
    for filters, kernel, stride in convolutions:
        side = (side - kernel) // stride + 1
        outputs += filters * side * side
    return 2 * outputs * body_dtype(config, device).itemsize


def free_memory(root: Path = Path("/sys/fs/cgroup"), membership: Path = Path("/proc/self/cgroup")) -> float:
    """Return the free bytes of the host, or of the control group (such as a container) with the tightest limit."""
    return min([psutil.virtual_memory().available, *_left_to_groups(root, membership)])


def _left_to_groups(root: Path, membership: Path) -> list[float]:
    left = []
    for line in membership.read_text().splitlines() if membership.exists() else []:
        _, controllers, path = line.split(":", 2)
        if controllers == "":  # cgroup version 2
            names, top = ("memory.max", "memory.current", "inactive_file"), root
        elif "memory" in controllers.split(","):
            names, top = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"), root / "memory"
        else:
            continue
        # A group's limit also holds for all groups inside it. A container sees its own group as the top one.
        group = top / path.lstrip("/")
        left += [_left_to(each, *names) for each in (group, *group.parents) if each.is_relative_to(top)]
    return left


def _left_to(group: Path, limit: str, usage: str, reclaimable: str) -> float:
    try:
        most = (group / limit).read_text().strip()
        used = int((group / usage).read_text())
        facts = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    except OSError:
        return float("inf")  # the top group has no limit, and groups outside a container are invisible
    return float("inf") if most == "max" else int(most) - used + int(facts.get(reclaimable, 0))


def keep_freed() -> None:
    """Make the C library keep freed memory for the next tensors.

    By default glibc returns some of the memory of large tensors to the system. An update then waits until the system
    has cleared the same pages again: 2,000 pages in some runs and none in others. Other C libraries are unchanged.
    """
    if set_option := getattr(ctypes.CDLL(None), "mallopt", None):
        for option, size in MALLOC_OPTIONS.items():
            set_option(option, size)


def gibibytes(size: float) -> str:
    """Format a size in GiB."""
    return f"{size / 2**30:,.1f} GiB"


# Open files of the main process: per child process, with a margin, and all others.
FILES_OF_A_PROCESS, OTHER_FILES = 4, 200


class TooManyProcessesError(TrainerError):
    """The system's limit of open files is too low for this number of processes."""


def room(files_of_each: int = FILES_OF_A_PROCESS) -> float:
    """Return the number of processes for which the system allows enough open files."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return math.inf if hard == resource.RLIM_INFINITY else (hard - OTHER_FILES) // files_of_each


def allow(processes: int, name: str = "processes", files_of_each: int = FILES_OF_A_PROCESS) -> None:
    """Raise this process's limit of open files for `processes` processes. Call it before they start.

    The fork server starts with the first process and keeps the limit of that moment.
    """
    needed = processes * files_of_each + OTHER_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < needed:
        raise TooManyProcessesError(
            f"{processes} {name} need {needed} open files, and the system allows {hard}: choose at most "
            f"{room(files_of_each)} {name}, or raise the limit (ulimit -Hn)"
        )
    if soft != resource.RLIM_INFINITY and soft < needed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))
