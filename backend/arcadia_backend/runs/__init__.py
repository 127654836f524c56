"""Runs: create, list, control and delete them."""
