"""Futures: simulations that continue an episode from one of its decisions.

request     the command line, and the document as text; loads no torch
simulating  plays futures side by side from a decision, computes their returns, and blends their pictures
experiment  the futures of one decision, from the checkpoint to the document, with its videos
"""
