"""Suites: studies that vary the game, and aggregates of their scores over the games.

lists       the named lists of games
service     the specification of a suite, which is started as a study
aggregates  the scores of a study's games, and statistics over them
figure      the statistics with their intervals
"""
