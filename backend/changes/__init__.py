"""Changes of the configuration of runs, from the request to the trainer's report."""
