"""Tables 1 to 4 and figures 3 and 4: scores in 49 games by two protocols."""

from dataclasses import replace

from backend.papers.definition import Difference, Item, Part
from backend.papers.scores import human_normalised, number_of, percent_of
from backend.studies.specification import Axis, Specification
from workers.contract import published

SOURCE = "Gorila (Nair et al. 2015)"
SCORES = {
    table: tuple(row for row in published.scores() if row.source == SOURCE and row.table == table)
    for table in ("table 3", "table 4")
}
PERCENTS = {
    table: tuple(row for row in published.normalised_scores() if row.source == SOURCE and row.table == table)
    for table in ("table 1", "table 2")
}
GAMES = [*dict.fromkeys(row.env for row in SCORES["table 4"])]


def _part(name: str, title: str, preset: str, games: list[str], steps: int, *, stands_in: bool = False) -> Part:
    axes = [Axis(field="env", values=[*games])]
    return Part(name, title, Specification(name=title, preset=preset, axes=axes, total_steps=steps), stands_in)


PARTS = (
    _part("gorila", "49 games, Gorila with 100 bundles", "gorila-paper", GAMES, 1_000_000_000),
    _part("dqn", "49 games, DQN", "dqn-nature", GAMES, 50_000_000),
    _part("pong", "Pong, Gorila for a laptop", "gorila-laptop", ["ALE/Pong-v5"], 4_000_000, stands_in=True),
)
DIFFERS = (
    Difference(
        "machines",
        "100 bundles and 31 parameter servers, up to 6 days",
        "a Ray cluster, or this host alone",
        "Ray places the roles; the numbers of the paper need as many machines",
    ),
    Difference(
        "runs",
        "5 for each game; the best evaluation of each, averaged",
        "1 for each game; the best evaluation of any run",
        "five times the cost; more seeds can be added on the study's page",
    ),
)
OURS = (
    "Draws the best score that any run here has by the same protocol: evaluate a run's checkpoint, on its page or on "
    "the game's. The studies train the runs. Only scores by this protocol are drawn."
)
NO_OPS = "30 episodes of at most 5 minutes, after up to 30 no-ops"
HUMAN = "100 starts from a person's play, at most 30 minutes"
HUMAN_STARTS = "Start points from a person's play are not published: import a set, or keep a game that you play."

TABLE_1 = Item(
    name="table-1",
    label="Table 1",
    title="Scores after no-ops, normalised",
    theirs=f"Evaluated DQN and Gorila in 49 games: {NO_OPS}. Scores are in percent, random being 0 and the human 100.",
    ours=OURS,
    measures="Percent of the human's score after no-ops (no-op-5min)",
    draw=human_normalised(SCORES["table 4"], "no-op-5min"),
    differs=DIFFERS,
    published=tuple(map(percent_of, PERCENTS["table 1"])),
    parts=PARTS,
    panels="best",
    height=1_080,
)
TABLE_2 = replace(
    TABLE_1,
    name="table-2",
    label="Table 2",
    title="Scores from human starts, normalised",
    theirs=f"Evaluated DQN and Gorila in 49 games: {HUMAN}. Scores are in percent, random being 0 and the human 100.",
    ours=f"{OURS} {HUMAN_STARTS}",
    measures="Percent of the human's score from human starts",
    draw=human_normalised(SCORES["table 3"], "human-starts"),
    published=tuple(map(percent_of, PERCENTS["table 2"])),
    runs_of="table-1",
)
TABLE_3 = replace(
    TABLE_2,
    name="table-3",
    label="Table 3",
    title="Scores from human starts",
    theirs=f"The scores that table 2 is made of: {HUMAN}.",
    published=tuple(map(number_of, SCORES["table 3"])),
)
TABLE_4 = replace(
    TABLE_1,
    name="table-4",
    label="Table 4",
    title="Scores after no-ops",
    theirs=f"The scores that table 1 is made of: {NO_OPS}.",
    published=tuple(map(number_of, SCORES["table 4"])),
    runs_of="table-1",
)
FIGURE_3 = replace(
    TABLE_2,
    name="figure-3",
    label="Figure 3",
    title="Table 2 as bars",
    theirs="Drew the scores of table 2, without those that are below random, and without Video Pinball.",
)
NORMALISATION = Difference(
    "normalisation",
    "Gorila's scores in percent of DQN's by the same starts",
    "in percent of the human's score, with DQN's beside them",
    "ours are drawn over the same axis as in table 1; the percentages of DQN are printed below",
)
FIGURE_4 = replace(
    TABLE_1,
    name="figure-4",
    label="Figure 4",
    title="Gorila beside DQN, by both protocols",
    theirs="Drew Gorila's scores in percent of DQN's, by human starts and after no-ops.",
    ours=f"{OURS} Drawn as table 1, in percent of the human's score, with DQN's beside it.",
    differs=(*DIFFERS, NORMALISATION),
    published=tuple(percent_of(row) for table in PERCENTS.values() for row in table if row.normalised_by == "DQN"),
    runs_of="table-1",
)
ITEMS = (TABLE_1, TABLE_2, TABLE_3, TABLE_4, FIGURE_3, FIGURE_4)
