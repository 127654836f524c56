"""Figure S7: scores of the three value-based methods by learning rate."""

from arcadia_backend.papers.a3c.figure_2 import INITIALIZATION, LENGTH, STEPS, UNPUBLISHED, draw, rates_part
from arcadia_backend.papers.a3c.games import BUDGET, FIVE_GAMES, PROCESSES, SCORES
from arcadia_backend.papers.a3c.table_2 import METHODS
from arcadia_backend.papers.definition import Item
from arcadia_workers.contract.presets import PRESETS

PAPERS_PRESETS = ("one-step-q", "one-step-sarsa", "n-step-q")


def _title(preset: str, game: str) -> str:
    return f"{METHODS[PRESETS[preset].config.algorithm]} on {game}"


ITEM = Item(
    name="figure-s7",
    label="Figure S7",
    title="Scores of the value-based methods by learning rate",
    theirs="Repeats figure 2 for one-step Q-learning, one-step Sarsa and n-step Q-learning: 50 learning rates "
    "drawn from LogUniform(10⁻⁴, 10⁻²) and 50 random initializations on each of five games. Each method "
    "and game usually has a range of rates that score well.",
    ours="Trains each method's preset on each game with 50 rates drawn from the same range. Each dot is the "
    "mean return of the last 100 episodes of one run.",
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
