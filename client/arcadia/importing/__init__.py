"""Import of other tools' logs as runs. Each event is imported exactly once."""
