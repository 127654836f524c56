"""PAAC's framework and the two methods that use it (Clemente et al. 2017)."""

from workers.contract.config import PaacConfig, PaacQConfig
from workers.trainer.methods import trained_networks
from workers.trainer.methods.paac import paac, paac_q
from workers.trainer.methods.paac.memory_needs import needs
from workers.trainer.methods.trainer import Trainer

PAAC = Trainer(config=PaacConfig, train=paac.train, needs=needs, load_network=trained_networks.load_policy)
PAAC_Q = Trainer(config=PaacQConfig, train=paac_q.train, needs=needs, load_network=trained_networks.load_action_values)
