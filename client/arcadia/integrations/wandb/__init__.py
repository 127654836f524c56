"""Stand-in for the package wandb below `arcadia run`. It logs to the command's run."""
