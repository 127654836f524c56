"""A3C: asynchronous methods (Mnih et al. 2016)."""

from backend.papers.a3c import figure_2
from backend.papers.definition import Paper

PAPER = Paper(
    name="a3c",
    title="A3C",
    full_title="Asynchronous Methods for Deep Reinforcement Learning",
    authors="Mnih, Puigdomènech Badia, Mirza, Graves, Harley, Lillicrap, Silver, Kavukcuoglu",
    year=2016,
    shows="Many actor-learners share one set of parameters without locks, and need no replay memory.",
    items=(figure_2.ITEM,),
)
