"""Evaluations of an agent by a protocol (`workers.contract.protocols`). `games/` plays the episodes.

evaluating         one evaluation, from the checkpoint to the document
request            the command line; loads no torch
starts             start points: read, written, cut from play
unlike_training    differences between the protocol and the training
verdict            statistics of the scores, and the document
report             events during a job
table              the document as text
"""
