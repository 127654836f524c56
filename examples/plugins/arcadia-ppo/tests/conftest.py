"""Registers PPO for its tests."""

from arcadia_ppo.metrics import METRICS as OWN

from workers.contract.metrics import METRICS

METRICS.update({metric.name: metric for metric in OWN})
