"""Gorila's parts: what the paper names, without Ray, and what puts them into processes of a cluster, with it."""
