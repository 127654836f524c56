"""The A3C paper's methods: actor-learners that share parameters without locks (Mnih et al. 2016)."""

import torch

from arcadia_workers.contract.config import (
    A3cConfig,
    AsynchronousFields,
    NStepQConfig,
    OneStepQConfig,
    OneStepSarsaConfig,
)
from arcadia_workers.trainer.host.memory import MEBIBYTE, Need, row_size
from arcadia_workers.trainer.methods import trainer
from arcadia_workers.trainer.methods.asynchronous import a3c, async_q
from arcadia_workers.trainer.methods.trainer import Trainer

ACTOR_LEARNER = 24 * MEBIBYTE


def needs(config: AsynchronousFields, device: torch.device) -> list[Need]:
    """Return the memory needs of the actor-learners' processes and rollouts."""
    each = ACTOR_LEARNER + config.t_max * row_size(config, device)
    return [Need(f"{config.num_actors:,} actor-learners", config.num_actors * each, "num_actors or t_max")]


A3C = Trainer(config=A3cConfig, train=a3c.train, needs=needs, load_network=a3c.load_network)
ONE_STEP_Q = Trainer(config=OneStepQConfig, train=async_q.train, needs=needs, load_network=trainer.load_action_values)
ONE_STEP_SARSA = Trainer(
    config=OneStepSarsaConfig, train=async_q.train, needs=needs, load_network=trainer.load_action_values
)
N_STEP_Q = Trainer(config=NStepQConfig, train=async_q.train, needs=needs, load_network=trainer.load_action_values)
