"""Evaluations of an agent by a protocol (`arcadia_workers.contract.protocols`). `games/` plays the episodes.

evaluating  one evaluation, from the checkpoint to the document, with its start points and statistics
request     the command line; loads no torch
report      events during a job, and the document as text
"""
