"""Atari games with the scores of runs and of the papers.

scores     the best finished evaluation of each run by each protocol
tables     rankings of runs and papers by protocol, also as CSV
service    the catalog of games, and one game with its tables, its picture and its runs without a score
overview   all games with their best scores, and averages over games
figure     a table as a bar chart
"""
