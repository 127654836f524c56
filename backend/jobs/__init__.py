"""Jobs: short assignments for a run that a worker does beside its training, such as an evaluation of a checkpoint."""
