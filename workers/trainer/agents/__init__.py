"""Agent files of run directories. `workers.contract.agents` makes the files."""
