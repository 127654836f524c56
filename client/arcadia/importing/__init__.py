"""Import of logs that other tools have written: as runs, each event exactly once."""
