"""Kept games: games that people played and saved, with a video, start points and scores."""
