"""Evaluation: what an agent is worth by a protocol (`workers.contract.protocols`).

evaluating  one evaluation, from the checkpoint to the document
request     what the command line asks for; loads no torch
subjects    who plays: a checkpoint's agent, or the random policy
games       one environment, an episode at a time; emulator is the Atari one, screens what an agent sees of it
openings    how each protocol begins an episode
acting      how actions are chosen from what a network says
playing     the one player of all protocols: several episodes side by side
starts      start points: read, written, cut from play
verdict     the scores' statistics, and the document
report      events while it plays
table       the document for readers
"""
