"""The host memory that PAAC's methods need."""

import torch

from workers.contract.config import SynchronousFields
from workers.trainer.host.memory import Need, row_size


def needs(config: SynchronousFields, device: torch.device) -> list[Need]:
    """Return the need of one rollout, all of whose steps are learnt from at once."""
    rows = config.num_envs * config.t_max
    return [Need(f"{rows:,} steps of a rollout", rows * row_size(config, device), "num_envs or t_max")]
