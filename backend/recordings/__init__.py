"""Recordings on demand: an episode of a checkpoint, by a protocol and a seed, becomes a replay with its track."""
