"""Host memory that PPO needs."""

import torch
from arcadia.plugins.training import Need, outputs_size, prepared_size

from arcadia_ppo.config import PpoConfig


def needs(config: PpoConfig, device: torch.device) -> list[Need]:
    """Return the memory needs of a rollout and of learning from one minibatch."""
    rows, learned = config.num_envs * config.t_max, config.minibatch_rows
    state, outputs = prepared_size(config, device), outputs_size(config, device)
    return [
        Need(f"{rows:,} steps of a rollout", rows * state, "num_envs or t_max"),
        Need(f"{learned:,} steps of a minibatch", learned * (state + outputs), "minibatch_size"),
    ]
