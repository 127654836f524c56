"""`arcadia backup` and `arcadia restore`: database and files of one moment in a folder, each verified by its hash."""
