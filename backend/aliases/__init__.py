"""Aliases: names of checkpoints, such as pong/champion, with their history."""
