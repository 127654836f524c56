"""Recordings on request: an episode of a checkpoint, by protocol and seed, becomes a replay with a track."""
