"""Replays of runs with their tracks, and the limit of their disk space."""
