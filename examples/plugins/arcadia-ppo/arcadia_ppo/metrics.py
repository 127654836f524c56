"""Metrics that PPO reports besides those of Arcadia's catalog."""

from arcadia.plugins import Metric

METRICS = (
    Metric("train/kl_divergence", "Divergence from the policy that acted, KL"),
    Metric("train/clip_fraction", "Steps whose policy change was clipped", "share"),
)
