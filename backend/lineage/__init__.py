"""Lineage of a run: its ancestors, and the evaluations, forks and agents of its checkpoints."""
