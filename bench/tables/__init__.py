"""Tables of docs/results, computed from the raw values in docs/results/data.

data         the files of raw values and their index
cells        text of numbers and of table cells
learning     tables of agents: training and evaluations
experiments  tables of experiments with agents
product      tables of times and counts
browser      tables of pages in the browser
peers        tables that compare trackers
inference    tables of docs/inference.md
pages        pages with tables: their check and their update
"""
