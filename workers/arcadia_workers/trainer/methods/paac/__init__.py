"""PAAC's framework and the two methods that use it (Clemente et al. 2017)."""

import torch

from arcadia_workers.contract.config import LockstepFields, PaacConfig, PaacQConfig
from arcadia_workers.trainer.host.memory import Need, row_size
from arcadia_workers.trainer.methods import trainer
from arcadia_workers.trainer.methods.paac import paac, paac_q
from arcadia_workers.trainer.methods.trainer import Trainer


def needs(config: LockstepFields, device: torch.device) -> list[Need]:
    """Return the memory need of one rollout, whose steps are all in one update."""
    rows = config.num_envs * config.t_max
    return [Need(f"{rows:,} steps of a rollout", rows * row_size(config, device), "num_envs or t_max")]


PAAC = Trainer(config=PaacConfig, train=paac.train, needs=needs, load_network=trainer.load_policy)
PAAC_Q = Trainer(config=PaacQConfig, train=paac_q.train, needs=needs, load_network=trainer.load_action_values)
