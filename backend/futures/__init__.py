"""Futures of replays: simulated continuations of an episode, computed by a job on request."""
