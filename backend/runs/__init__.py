"""Runs: launching, listing, steering and removing them."""
