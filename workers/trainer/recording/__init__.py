"""Recordings of an episode: a video, and a track of observations, network outputs and rewards.

recording     plays and films the episode of an evaluation with the same protocol, seed and number
replays       recordings in a run's directory, made by the trainer's recorder and by jobs
diary         collects the columns of the track (`workers.contract.tracks`) and computes returns
saliency      how much each place of an observation affects the network's output
kept_games    renders the video of a game that a person played
repeating     repeats a recorded episode from its actions
retracing     computes the saliency of each decision of a repeated episode
start_points  start points at decisions of a repeated episode
request       the command line; loads no torch
"""
