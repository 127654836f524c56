"""Studies: a question with the runs that answer it, at several points and seeds."""
