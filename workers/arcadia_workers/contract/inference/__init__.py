"""All intervals, tests and verdicts of the product. docs/inference.md names their assumptions and simulated coverage.

means       Student's and Welch's intervals, clusters, the jackknife, and tests of ranks
samples     statistics over runs and tasks as rliable defines them, with their intervals
elimination which points of a study are worse than another
losses      whether another action is better, from pairs of simulated futures
"""
