"""Figure S7: the scores of the three value-based methods by learning rate."""

from backend.papers.a3c.figure_2 import INITIALIZATION, LENGTH, STEPS, UNPUBLISHED, draw, rates_part
from backend.papers.a3c.games import BUDGET, FIVE_GAMES, PROCESSES, SCORES
from backend.papers.a3c.table_2 import METHODS
from backend.papers.definition import Item
from workers.contract.presets import PRESETS

PAPERS_PRESETS = ("one-step-q", "one-step-sarsa", "n-step-q")


def _title(preset: str, game: str) -> str:
    return f"{METHODS[PRESETS[preset].config.algorithm]} on {game}"


ITEM = Item(
    name="figure-s7",
    label="Figure S7",
    title="Scores of the value-based methods by learning rate",
    theirs="Drew figure 2 for one-step Q, one-step Sarsa and n-step Q: 50 learning rates drawn from "
    "LogUniform(10⁻⁴, 10⁻²) and as many random initialisations on each of five games, a dot for each run. Each method "
    "and game usually has a range of rates that score well.",
    ours="For each method and game 50 rates drawn from the same range train the method's preset; a dot is the mean "
    "return of a run's last 100 episodes.",
    measures="Mean return of the last 100 episodes, by learning rate",
    draw=draw,
    differs=(PROCESSES, SCORES, BUDGET, INITIALIZATION, LENGTH),
    unpublished=UNPUBLISHED,
    parts=(
        *(
            rates_part(f"{preset}-{name}", _title(preset, title), preset, env, STEPS)
            for preset in PAPERS_PRESETS
            for name, (title, env) in FIVE_GAMES.items()
        ),
        *(
            rates_part(
                f"{preset}-cartpole",
                _title(preset, "CartPole"),
                f"{preset}-cartpole",
                "CartPole-v1",
                400_000,
                stands_in=True,
            )
            for preset in PAPERS_PRESETS
        ),
    ),
    panels="each",
)
