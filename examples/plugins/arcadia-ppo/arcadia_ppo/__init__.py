"""PPO as a method of Arcadia (Schulman et al. 2017, arXiv:1707.06347)."""

from arcadia_ppo import network, ppo
from arcadia_ppo.config import PpoConfig
from arcadia_ppo.memory_needs import needs
from workers.trainer.methods.method import Method

PPO = Method(config=PpoConfig, train=ppo.train, needs=needs, load_network=network.load_network)
