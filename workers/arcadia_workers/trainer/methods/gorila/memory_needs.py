"""Host memory of Gorila."""

import socket

import torch

from arcadia_workers.contract.config import GorilaConfig
from arcadia_workers.trainer.environments import own_environment
from arcadia_workers.trainer.host.memory import MEBIBYTE, Need, refuse_if_short, row_size
from arcadia_workers.trainer.methods.gorila import ray_cluster
from arcadia_workers.trainer.methods.gorila.replay_memory import BYTES_OF_PRIORITY, FrameKind, bytes_of_slot, frames_of

# Ray's processes share no memory with the trainer. Ray's own processes include a scheduler and a directory.
ROLE, RAY = 180 * MEBIBYTE, 550 * MEBIBYTE


def needs(config: GorilaConfig, device: torch.device) -> list[Need]:
    """Return the memory needs of Ray, the roles and their replay memories. Cluster hosts are checked one by one."""
    if ray_cluster.address():
        return []
    roles = config.num_actors + config.num_shards
    if config.mode == "free":
        roles += config.num_learners + config.num_replays
    each = ROLE + 3 * config.batch_size * row_size(config, device)
    observation_shape, _ = own_environment.interface(config)
    return [
        Need("Ray", RAY, "num_actors"),
        Need(f"{roles:,} roles", roles * each, "num_actors or num_shards"),
        replay_need(config.replay_frames * slot_size(config, frames_of(observation_shape))),
    ]


def check_replay(config: GorilaConfig, observation_shape: tuple[int, ...], memories: float) -> None:
    """Raise if `memories` replay memories do not fit into the free memory of this cluster host."""
    size = memories * (config.replay_frames // config.num_memories) * slot_size(config, frames_of(observation_shape))
    refuse_if_short([replay_need(size)], f"on {socket.gethostname()}")


def replay_need(size: float) -> Need:
    """Return the memory need of replay memories."""
    return Need("replay memory", size, "replay_frames")


def slot_size(config: GorilaConfig, frames: FrameKind) -> int:
    """Return the bytes of a frame and its transition in the replay memory."""
    return bytes_of_slot(frames) + (BYTES_OF_PRIORITY if config.prioritized_replay else 0)
