"""GA3C's parts: one network that predictors and trainers share, the queues to it, and how many of each there are."""
