"""Stand-in for the package wandb below `arcadia run`. What a script logs with it goes to the run."""
