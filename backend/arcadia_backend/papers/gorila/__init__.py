"""Gorila: massively parallel methods (Nair et al. 2015)."""

from arcadia_backend.papers.definition import Paper
from arcadia_backend.papers.gorila import figures, tables

PAPER = Paper(
    name="gorila",
    title="Gorila",
    full_title="Massively Parallel Methods for Deep Reinforcement Learning",
    authors="Nair, Srinivasan, Blackwell, Alcicek, Fearon, De Maria, Panneershelvam, Suleyman, Beattie, Petersen, "
    "Legg, Mnih, Kavukcuoglu, Silver",
    year=2015,
    shows="DQN on many machines, with actors, replay memories, learners and a sharded parameter server.",
    items=(figures.FIGURE_1, figures.FIGURE_2, *tables.ITEMS, figures.ITEM),
)
