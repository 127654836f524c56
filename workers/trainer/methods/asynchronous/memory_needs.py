"""Host memory of the actor-learners."""

import torch

from workers.contract.config import AsynchronousFields
from workers.trainer.host.memory import MEBIBYTE, Need, row_size

ACTOR_LEARNER = 24 * MEBIBYTE


def needs(config: AsynchronousFields, device: torch.device) -> list[Need]:
    """Return the memory needs of the actor-learners' processes and rollouts."""
    each = ACTOR_LEARNER + config.t_max * row_size(config, device)
    return [Need(f"{config.num_actors:,} actor-learners", config.num_actors * each, "num_actors or t_max")]
