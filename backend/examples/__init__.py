"""Example runs of trained agents, and the report that explains them (docs/archives.md)."""
