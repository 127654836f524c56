"""Registers PPO for its tests."""

import torch
from arcadia_ppo.metrics import METRICS as OWN

from workers.contract.metrics import METRICS

METRICS.update({metric.name: metric for metric in OWN})
# As the trainer does for networks that read vectors. On busy cores, several threads wait for each other.
torch.set_num_threads(1)
