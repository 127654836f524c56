"""Replays: kept with their checkpoints, listed, and told with what the agent thought."""
