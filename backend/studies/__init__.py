"""Studies: a question, and the runs that answer it: points of a space of configurations, each with several seeds."""
