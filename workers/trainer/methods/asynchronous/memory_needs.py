"""The host memory that actor-learners need."""

import torch

from workers.contract.config import AsynchronousFields
from workers.trainer.host.memory import MEBIBYTE, Need, row_size

ACTOR_LEARNER = 24 * MEBIBYTE


def needs(config: AsynchronousFields, device: torch.device) -> list[Need]:
    """Return the need of the actor-learners' processes, each with a rollout."""
    each = ACTOR_LEARNER + config.t_max * row_size(config, device)
    return [Need(f"{config.num_actors:,} actor-learners", config.num_actors * each, "num_actors or t_max")]
