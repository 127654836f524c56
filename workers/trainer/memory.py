"""What a configuration will need of the host's memory, asked before training begins (the sizes are measured ones)."""

from dataclasses import dataclass
from pathlib import Path

import psutil
import torch

from workers.trainer.bodies import ARCHITECTURES, resolved
from workers.trainer.config import AsynchronousFields, Ga3cConfig, RunConfig, SynchronousFields
from workers.trainer.experiences import ROLLOUTS
from workers.trainer.precision import body_dtype

MEBIBYTE = 2**20
# With torch, gymnasium and the emulators loaded; processes share these pages with the one they are forked from.
PROGRAM = 350 * MEBIBYTE
ACTOR_LEARNER = 24 * MEBIBYTE
AGENT = 8 * MEBIBYTE

SIDE, FRAMES = 84, 4
FLOAT = 4


class MemoryShortageError(Exception):
    """The configuration needs more memory than this host has."""


@dataclass(frozen=True)
class Need:
    """Memory that something takes, and the fields that decide how much."""

    what: str
    size: float
    fields: str


def check(config: RunConfig, device: torch.device) -> None:
    """Refuse a run that would be killed for want of memory, and say which fields are to blame."""
    needs = needs_of(config, device)
    total, free = sum(need.size for need in needs), free_memory()
    if total > free:
        largest = max(needs, key=lambda need: need.size)
        raise MemoryShortageError(
            f"this configuration needs about {gibibytes(total)} of memory, {gibibytes(largest.size)} of it for "
            f"{largest.what}, but {gibibytes(free)} are free here: lower {largest.fields}"
        )


def needs_of(config: RunConfig, device: torch.device) -> list[Need]:
    """Estimate from below what training will hold at its busiest moment."""
    needs = [Need("the program", PROGRAM, "network")]
    body = row_size(config, device)
    if isinstance(config, SynchronousFields):
        rows = config.num_envs * config.t_max
        needs.append(Need(f"{rows:,} steps of a rollout", rows * body, "num_envs or t_max"))
    elif isinstance(config, AsynchronousFields):
        each = ACTOR_LEARNER + config.t_max * body
        needs.append(Need(f"{config.num_actors:,} actor-learners", config.num_actors * each, "num_actors or t_max"))
    elif isinstance(config, Ga3cConfig):
        each = AGENT + ROLLOUTS * config.t_max * state_size(config)
        needs.append(Need(f"{config.num_agents:,} agents", config.num_agents * each, "num_agents or t_max"))
        rows = config.num_trainers * (config.min_training_batch + config.t_max)
        needs.append(Need("training batches", rows * body, "min_training_batch or num_trainers"))
    return needs


def state_size(config: RunConfig) -> int:
    """Bytes of an observation as its environment gives it."""
    return FRAMES * SIDE * SIDE if config.environment.shows_pixels else FLOAT * 32


def row_size(config: RunConfig, device: torch.device) -> int:
    """Bytes that learning from one step takes on the host: its state, what the layers gave, and the gradients of it."""
    if device.type == "cuda":
        return state_size(config)
    kind = resolved(config.network, config.environment.shows_pixels)
    if kind == "mlp":
        return state_size(config) + 2 * FLOAT * config.hidden_layers * config.hidden_units
    width = body_dtype(config, device).itemsize
    convolutions, outputs = ARCHITECTURES[kind]
    side = SIDE
    for filters, kernel, stride in convolutions:
        side = (side - kernel) // stride + 1
        outputs += filters * side * side
    return width * (state_size(config) + 2 * outputs)


def free_memory(root: Path = Path("/sys/fs/cgroup"), membership: Path = Path("/proc/self/cgroup")) -> float:
    """Bytes that the host can still give, or the group of processes (a container, say) whose limit is nearest."""
    return min([psutil.virtual_memory().available, *_left_to_groups(root, membership)])


def _left_to_groups(root: Path, membership: Path) -> list[float]:
    left = []
    for line in membership.read_text().splitlines() if membership.exists() else []:
        _, controllers, path = line.split(":", 2)
        if controllers == "":  # version 2
            names, top = ("memory.max", "memory.current", "inactive_file"), root
        elif "memory" in controllers.split(","):
            names, top = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"), root / "memory"
        else:
            continue
        # A group's limit holds for the groups within it; within a container, its own group is the top one.
        group = top / path.lstrip("/")
        left += [_left_to(each, *names) for each in (group, *group.parents) if each.is_relative_to(top)]
    return left


def _left_to(group: Path, limit: str, usage: str, reclaimable: str) -> float:
    try:
        most = (group / limit).read_text().strip()
        used = int((group / usage).read_text())
        facts = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    except OSError:
        return float("inf")  # the top group has no limit, and a container does not see the groups around it
    return float("inf") if most == "max" else int(most) - used + int(facts.get(reclaimable, 0))


def gibibytes(size: float) -> str:
    """Say a size."""
    return f"{size / 2**30:,.1f} GiB"
