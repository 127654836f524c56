"""PAAC: efficient parallel methods (Clemente et al. 2017)."""

from arcadia_backend.papers.definition import Paper
from arcadia_backend.papers.paac import figure_1, figure_2, figures_3_and_4, table_1

PAPER = Paper(
    name="paac",
    title="PAAC",
    full_title="Efficient Parallel Methods for Deep Reinforcement Learning",
    authors="Clemente, Castejón, Chandra",
    year=2017,
    shows="Many environments step in parallel. One network acts and learns for all of them in batches.",
    items=(table_1.ITEM, figure_1.ITEM, figure_2.ITEM, figures_3_and_4.FIGURE_3, figures_3_and_4.FIGURE_4),
)
