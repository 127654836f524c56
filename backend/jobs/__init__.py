"""Jobs: short tasks that a worker does beside its training, such as the evaluation of a checkpoint."""
