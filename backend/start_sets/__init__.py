"""Start sets: stored start points of Atari games for the protocols human-starts and agent-starts."""
