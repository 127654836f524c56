"""A3C: asynchronous methods (Mnih et al. 2016)."""

from arcadia_backend.papers.a3c import (
    figure_1,
    figure_2,
    figure_s2,
    figure_s7,
    figures_3_and_4,
    figures_s5_and_s6,
    supplement,
    table_1,
    table_2,
)
from arcadia_backend.papers.definition import Paper

PAPER = Paper(
    name="a3c",
    title="A3C",
    full_title="Asynchronous Methods for Deep Reinforcement Learning",
    authors="Mnih, Puigdomènech Badia, Mirza, Graves, Harley, Lillicrap, Silver, Kavukcuoglu",
    year=2016,
    shows="Many actor-learners train one set of shared parameters without locks or replay memory.",
    items=(
        table_1.ITEM,
        table_2.ITEM,
        figure_1.ITEM,
        figure_2.ITEM,
        figures_3_and_4.FIGURE_3,
        figures_3_and_4.FIGURE_4,
        supplement.OPTIMIZER_COMPARISON,
        supplement.MUJOCO,
        supplement.LABYRINTH,
        figure_s2.ITEM,
        figures_s5_and_s6.FIGURE_S5,
        figures_s5_and_s6.FIGURE_S6,
        figure_s7.ITEM,
    ),
)
