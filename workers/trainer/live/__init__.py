"""Live games: an agent or a person plays in real time for those who watch, and nothing is kept
unless the person wishes it.

show      plays, by the agent decision by decision and by a person frame by frame, and heeds the viewers' orders
stagings  what is played: an environment, how its games begin, and the agent if there is one
hands     the person who plays, and which action the held keys mean
players   loads checkpoints, the newer ones that arrive as well, and chooses actions by temperature
keeping   what is kept of a game that only people have played
line      the connection to the backend
pacing    when the next picture is due
pictures  pictures as they are sent
"""
