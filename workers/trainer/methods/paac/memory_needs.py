"""Host memory of PAAC's methods."""

import torch

from workers.contract.config import LockstepFields
from workers.trainer.host.memory import Need, row_size


def needs(config: LockstepFields, device: torch.device) -> list[Need]:
    """Return the memory need of one rollout, whose steps are all in one update."""
    rows = config.num_envs * config.t_max
    return [Need(f"{rows:,} steps of a rollout", rows * row_size(config, device), "num_envs or t_max")]
