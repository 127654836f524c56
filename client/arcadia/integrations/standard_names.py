"""Arcadia's names of metrics and alert levels that other libraries name differently."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

STANDARD_NAMES = {
    "charts/episodic_return": "episode/return",  # CleanRL
    "charts/episodic_length": "episode/length",
    "rollout/ep_rew_mean": "episode/mean_return",  # Stable-Baselines3 logs no single episodes
    "rollout/ep_len_mean": "episode/mean_length",
}

WANDB_LEVELS = {"INFO": "info", "WARN": "warning", "ERROR": "error"}


def with_standard_names(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values. Add an episode's return or length, or their means, under Arcadia's names."""
    if STANDARD_NAMES.keys().isdisjoint(values):
        return values
    return {**{STANDARD_NAMES[name]: value for name, value in values.items() if name in STANDARD_NAMES}, **values}
