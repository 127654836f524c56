"""GA3C: hybrid CPU/GPU A3C (Babaeizadeh et al. 2017)."""

from arcadia_backend.papers.definition import Paper
from arcadia_backend.papers.ga3c import figure_1, learning, roles, table_1, table_2, table_3

PAPER = Paper(
    name="ga3c",
    title="GA3C",
    full_title="Reinforcement Learning through Asynchronous Advantage Actor-Critic on a GPU",
    authors="Babaeizadeh, Frosio, Tyree, Clemons, Kautz",
    year=2017,
    shows="One network on a GPU serves many agents, which queue prediction requests and experiences.",
    items=(
        table_1.ITEM,
        table_2.ITEM,
        table_3.ITEM,
        figure_1.ITEM,
        roles.FIGURE_2,
        roles.FIGURE_3,
        roles.FIGURE_4,
        learning.FIGURE_5,
        learning.FIGURE_6,
        learning.FIGURE_7,
    ),
)
