"""The A3C paper's methods: actor-learners that share parameters without locks (Mnih et al. 2016)."""

from workers.contract.config import A3cConfig, NStepQConfig, OneStepQConfig, OneStepSarsaConfig
from workers.trainer.methods import trained_networks
from workers.trainer.methods.asynchronous import a3c, async_q
from workers.trainer.methods.asynchronous.memory_needs import needs
from workers.trainer.methods.trainer import Trainer

A3C = Trainer(config=A3cConfig, train=a3c.train, needs=needs, load_network=a3c.load_network)
ONE_STEP_Q = Trainer(
    config=OneStepQConfig, train=async_q.train, needs=needs, load_network=trained_networks.load_action_values
)
ONE_STEP_SARSA = Trainer(
    config=OneStepSarsaConfig, train=async_q.train, needs=needs, load_network=trained_networks.load_action_values
)
N_STEP_Q = Trainer(
    config=NStepQConfig, train=async_q.train, needs=needs, load_network=trained_networks.load_action_values
)
