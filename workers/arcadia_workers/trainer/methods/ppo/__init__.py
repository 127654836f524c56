"""PPO: proximal policy optimization (Schulman et al. 2017)."""

import torch

from arcadia_workers.contract.config import PpoConfig
from arcadia_workers.trainer.host.memory import Need, outputs_size, prepared_size
from arcadia_workers.trainer.methods.ppo import network, ppo
from arcadia_workers.trainer.methods.trainer import Trainer


def needs(config: PpoConfig, device: torch.device) -> list[Need]:
    """Return the memory needs of a rollout and of learning from one minibatch."""
    rows, learned = config.num_envs * config.t_max, config.minibatch_rows
    state, outputs = prepared_size(config, device), outputs_size(config, device)
    return [
        Need(f"{rows:,} steps of a rollout", rows * state, "num_envs or t_max"),
        Need(f"{learned:,} steps of a minibatch", learned * (state + outputs), "minibatch_size"),
    ]


PPO = Trainer(config=PpoConfig, train=ppo.train, needs=needs, load_network=network.load_network)
