"""One file that runs a worker on a host that has only Python."""
