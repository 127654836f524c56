"""Games that people have played and keep: a film, start points, and the best score of each game."""
