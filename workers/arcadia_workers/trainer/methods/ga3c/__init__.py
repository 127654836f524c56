"""GA3C: agents reach one shared network through queues (Babaeizadeh et al. 2017)."""

from arcadia_workers.contract.config import Ga3cConfig
from arcadia_workers.trainer.methods import trainer
from arcadia_workers.trainer.methods.ga3c import ga3c
from arcadia_workers.trainer.methods.ga3c.experiences import needs
from arcadia_workers.trainer.methods.trainer import Trainer

GA3C = Trainer(config=Ga3cConfig, train=ga3c.train, needs=needs, load_network=trainer.load_policy)
