"""Host memory of GA3C."""

import torch

from workers.contract.config import Ga3cConfig
from workers.trainer.host.memory import MEBIBYTE, Need, outputs_size, prepared_size, state_size
from workers.trainer.methods.ga3c.experiences import rollouts_of_agent

AGENT = 8 * MEBIBYTE


def needs(config: Ga3cConfig, device: torch.device) -> list[Need]:
    """Return the memory needs of the agents with their rollouts and of the trainers' batches."""
    each = AGENT + rollouts_of_agent(config) * config.t_max * state_size(config)
    rows = config.min_training_batch + config.t_max
    # Each trainer collects a batch, but they take turns with the network.
    batches = rows * config.num_trainers * (state_size(config) + prepared_size(config, device))
    update = rows * outputs_size(config, device)
    return [
        Need(f"{config.num_agents:,} agents", config.num_agents * each, "num_agents or t_max"),
        Need("training batches", batches + update, "min_training_batch or num_trainers"),
    ]
