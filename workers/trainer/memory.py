"""What a configuration will need of the host's memory, asked before training begins (the sizes are measured ones)."""

import socket
from dataclasses import dataclass
from pathlib import Path

import psutil
import torch

from workers.trainer.bodies import ARCHITECTURES, resolved
from workers.trainer.config import AsynchronousFields, Ga3cConfig, GorilaConfig, RunConfig, SynchronousFields
from workers.trainer.ga3c.experiences import ROLLOUTS
from workers.trainer.gorila import ray_cluster
from workers.trainer.gorila.prioritised_memory import BYTES_OF_PRIORITY
from workers.trainer.gorila.replay_memory import FrameKind, bytes_of_slot, frames_of
from workers.trainer.precision import body_dtype

MEBIBYTE = 2**20
# With torch, gymnasium and the emulators loaded; processes share these pages with the one they are forked from.
PROGRAM = 350 * MEBIBYTE
ACTOR_LEARNER = 24 * MEBIBYTE
AGENT = 8 * MEBIBYTE
# A process of Ray's shares nothing with ours; its own ones are a scheduler, a directory and their companions.
ROLE, RAY = 180 * MEBIBYTE, 550 * MEBIBYTE

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
    refuse_if_short(needs, "here")


def check_replay(config: GorilaConfig, observation_shape: tuple[int, ...], memories: int) -> None:
    """Refuse so many of a run's replay memories on this host of a cluster if they do not fit."""
    size = memories * (config.replay_frames // config.num_memories) * slot_size(config, frames_of(observation_shape))
    refuse_if_short([replay_need(size)], f"on {socket.gethostname()}")


def refuse_if_short(needs: list[Need], where: str) -> None:
    """Refuse what takes more memory than is free."""
    total, free = sum(need.size for need in needs), free_memory()
    if total > free:
        largest = max(needs, key=lambda need: need.size)
        raise MemoryShortageError(
            f"this configuration needs about {gibibytes(total)} of memory, {gibibytes(largest.size)} of it for "
            f"{largest.what}, but {gibibytes(free)} are free {where}: lower {largest.fields}"
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
    elif isinstance(config, GorilaConfig) and not ray_cluster.address():  # a cluster's hosts are asked one by one
        needs.append(Need("Ray", RAY, "num_actors"))
        roles = config.num_actors + config.num_shards
        if config.mode == "free":
            roles += config.num_learners + config.num_replays
        needs.append(
            Need(f"{roles:,} roles", roles * (ROLE + 3 * config.batch_size * body), "num_actors or num_shards")
        )
        shape = (FRAMES, SIDE, SIDE) if config.environment.shows_pixels else (32,)
        needs.append(replay_need(config.replay_frames * slot_size(config, frames_of(shape))))
    return needs


def replay_need(size: float) -> Need:
    """Of replay memories."""
    return Need("replay memory", size, "replay_frames")


def slot_size(config: GorilaConfig, frames: FrameKind) -> int:
    """Bytes of a frame in the replay memory, with the transition from it."""
    return bytes_of_slot(frames) + (BYTES_OF_PRIORITY if config.prioritised_replay else 0)


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
