"""Provenance of the attempts of runs: the code, packages, host and command that each was made with."""
