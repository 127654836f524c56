"""PPO as a method of Arcadia (Schulman et al. 2017, arXiv:1707.06347). The backend imports this module."""

from arcadia.plugins import Method, Plugin

from arcadia_ppo.config import PpoConfig
from arcadia_ppo.metrics import METRICS

METHODS = Plugin(interface=1, provides=[Method(PpoConfig, trainer="arcadia_ppo.trainer:PPO", metrics=METRICS)])
