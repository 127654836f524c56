"""Lineage of a run: its ancestors, its checkpoints, and what was made of them."""
