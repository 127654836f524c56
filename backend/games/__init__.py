"""Atari games with the scores of runs in them, beside those that the papers publish.

catalogue   the games, by the names that their pages have in addresses
scores      the best finished evaluation of each run under each protocol
published   the papers' scores, each once with all tables that have it
tables      both together: who is ranked with whom, and what stands apart
wall        every game with its best score, and averages over games
pictures    replays to show a game by
waiting     runs that have no score yet, and why
game        one game with all of these
figure      one table as bars
spreadsheet the best scores of all games, and every table of one, as CSV
"""
