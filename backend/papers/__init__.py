"""The papers' tables and figures: what they did, what ours does, and studies of ours drawn over their numbers.

A folder here is a paper: its `__init__.py` has the `PAPER`, and a module beside it each table or figure.
"""
