"""Recordings: one episode as a video, with a track of what the agent saw, thought and got at each decision.

recording  plays the episode that an evaluation with the same protocol, seed and number plays, and films it
replays    recordings in a run's directory, as the trainer's recorder and jobs make them
diary      gathers the columns of the track (`workers.contract.tracks`), and sums up the returns
saliency   how much each place of what the network sees counts for what it says
kept_games films a game that a person has played
retracing  plays a recorded episode again, and computes the saliency of each decision
request    what the command line asks for; loads no torch
"""
