"""Kinds of jobs: how each is requested, and how its results are stored, shown and deleted.

Each kind is a module or a package with a `JobType` for a declaration in contract/jobs.py. They are found automatically.
"""
