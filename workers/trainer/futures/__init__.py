"""Futures: simulations that continue an episode from one of its decisions.

moments     an episode up to a decision, as an evaluation plays it
simulating  plays futures side by side from a moment
ghosts      a video of all futures, blended
films       videos of the best, median and worst future
returns     the return of a future, as training computes it, and means with intervals
players     the agents of checkpoints, and whether one can continue another's episode
experiment  the futures of one decision, from the checkpoint to the document
request     the command line; loads no torch
table       the document as text
program     the frame of the command-line programs `arcadia futures` and `arcadia calibrate`
"""
