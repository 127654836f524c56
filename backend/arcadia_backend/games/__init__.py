"""Atari games with the scores of runs and of the papers.

catalog      games by their names in URLs
scores       the best finished evaluation of each run by each protocol
published    the papers' scores without duplicates
tables       rankings of runs and papers by protocol
overview     all games with their best scores, and averages over games
pictures     replays that represent a game
waiting      runs without a score, and the reason
service      one game with all of these
figure       a table as a bar chart
spreadsheet  scores as CSV
"""
