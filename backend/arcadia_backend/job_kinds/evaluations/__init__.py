"""Evaluations: episodes that a checkpoint plays by a protocol, apart from training."""
