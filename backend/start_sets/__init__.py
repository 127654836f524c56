"""Sets of start points of Atari games, from which human-starts and agent-starts begin their episodes."""
