"""Live games that an agent or a person plays in real time for viewers. A person can save their game.

show        plays the game, executes the viewers' orders, and saves a person's game
live_agent  loads checkpoints, chooses actions by temperature, and sets a game up
connection  the connection to the backend, its pictures and their pace, and the keys of the person who plays
"""
