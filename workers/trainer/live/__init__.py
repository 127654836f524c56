"""Live games that an agent or a person plays in real time for viewers. A person can save their game.

show        plays the game and executes the viewers' orders
stagings    the environment, how its games begin, and the agent, if any
hands       the person who plays, and the action that the held keys mean
live_agent  loads checkpoints and chooses actions by temperature
keeping     the saved game of a person
connection  the connection to the backend
pacing      when the next picture is due
pictures    pictures as they are sent
"""
