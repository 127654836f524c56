"""Saved views of the runs page."""
