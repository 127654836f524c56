"""Recordings of an episode: a video, and a track of observations, network outputs and rewards.

recording  plays and films the episode of an evaluation with the same protocol, seed and number, and writes its track
replays    recordings in a run's directory, made by the trainer's recorder and by jobs, and games of people
retracing  repeats a recorded episode from its actions, for the saliency of its decisions and for start points
request    the command line; loads no torch
"""
