"""`arcadia backup` and `arcadia restore`: a consistent copy of the database and the files, verified by hashes."""
