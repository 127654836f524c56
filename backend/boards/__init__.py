"""Boards: the charts that a project's members arrange on one page."""
