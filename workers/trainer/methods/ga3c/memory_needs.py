"""The host memory that GA3C needs."""

import torch

from workers.contract.config import Ga3cConfig
from workers.trainer.host.memory import MEBIBYTE, Need, row_size, state_size
from workers.trainer.methods.ga3c.experiences import ROLLOUTS

AGENT = 8 * MEBIBYTE


def needs(config: Ga3cConfig, device: torch.device) -> list[Need]:
    """Return the needs of the agents with their rollouts, and of the trainers' batches."""
    each = AGENT + ROLLOUTS * config.t_max * state_size(config)
    rows = config.num_trainers * (config.min_training_batch + config.t_max)
    return [
        Need(f"{config.num_agents:,} agents", config.num_agents * each, "num_agents or t_max"),
        Need("training batches", rows * row_size(config, device), "min_training_batch or num_trainers"),
    ]
