"""Checkpoints: saved training states, and the rule by which they are kept."""
