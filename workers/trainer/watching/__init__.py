"""Live games: an agent plays in real time for those who watch, and nothing is kept.

show     plays, decision by decision, and heeds the viewers' orders
players  loads checkpoints, the newer ones that arrive as well, and chooses actions by temperature
line     the connection to the backend
pacing   when the next picture is due
"""
