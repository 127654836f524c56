"""Trainer half of PPO. Only the trainer imports it."""

from arcadia.plugins.training import Trainer

from arcadia_ppo import network, ppo
from arcadia_ppo.config import PpoConfig
from arcadia_ppo.memory_needs import needs

PPO = Trainer(config=PpoConfig, train=ppo.train, needs=needs, load_network=network.load_network)
