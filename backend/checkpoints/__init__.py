"""Checkpoints: saved training states, kept while they are of use."""
