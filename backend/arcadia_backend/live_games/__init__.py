"""Live games: a job plays a run's agent in real time, and every page that watches is shown the same game."""
