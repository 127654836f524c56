"""Calibration: how well a critic's values predict the returns of simulated futures (`workers.trainer.futures`).

judging     the value, the futures and the regret of single decisions
calibrating one calibration, from the checkpoint to the document
request     the command line; loads no torch
table       the document as text
"""
