"""Agent files: export of a checkpoint as one file, and import of such a file as a run (docs/agents.md)."""
