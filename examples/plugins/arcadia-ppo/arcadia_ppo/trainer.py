"""Trainer half of PPO. Only the trainer imports it."""

from arcadia_ppo import network, ppo
from arcadia_ppo.config import PpoConfig
from arcadia_ppo.memory_needs import needs
from workers.trainer.methods.method import Trainer

PPO = Trainer(config=PpoConfig, train=ppo.train, needs=needs, load_network=network.load_network)
