"""Tables 1 to 4 and figures 3 and 4: scores in 49 games by two protocols."""

from dataclasses import replace

from arcadia_backend.papers.definition import Item, PaperDifference, StudyPart
from arcadia_backend.papers.measured import human_normalized, number_of, percent_of
from arcadia_backend.studies.specification import Axis, Specification
from arcadia_workers.contract import published

SOURCE = "Gorila (Nair et al. 2015)"
SCORES = {
    table: tuple(row for row in published.scores() if row.source == SOURCE and row.table == table)
    for table in ("table 3", "table 4")
}
PERCENTS = {
    table: tuple(row for row in published.normalized_scores() if row.source == SOURCE and row.table == table)
    for table in ("table 1", "table 2")
}
GAMES = [*dict.fromkeys(row.env for row in SCORES["table 4"])]


def _part(name: str, title: str, preset: str, games: list[str], steps: int, *, stands_in: bool = False) -> StudyPart:
    axes = [Axis(field="env", values=[*games])]
    return StudyPart(name, title, Specification(name=title, preset=preset, axes=axes, total_steps=steps), stands_in)


PARTS = (
    _part("gorila", "49 games, Gorila with 100 bundles", "gorila-paper", GAMES, 1_000_000_000),
    _part("dqn", "49 games, DQN", "dqn-nature", GAMES, 50_000_000),
    _part("pong", "Pong, Gorila for a laptop", "gorila-laptop", ["ALE/Pong-v5"], 4_000_000, stands_in=True),
)
DIFFERS = (
    PaperDifference(
        "machines",
        "100 bundles and 31 parameter servers, up to 6 days",
        "a Ray cluster or only this host",
        "Ray places the roles; the paper's numbers of roles need as many machines",
    ),
    PaperDifference(
        "runs",
        "5 per game; the average of their best evaluations",
        "1 per game; the best evaluation of any run",
        "five runs cost five times as much; add seeds on the study's page",
    ),
)
OURS = (
    "Shows the best score of any run here by the same protocol. The studies train the runs. To get a score, evaluate a "
    "checkpoint on the run's or the game's page."
)
NO_OPS = "30 episodes of at most 5 minutes, after up to 30 no-ops"
HUMAN = "100 start points from human play, at most 30 minutes"
HUMAN_STARTS = "The human start points are not published. Import a start set, or play and keep a game yourself."

TABLE_1 = Item(
    name="table-1",
    label="Table 1",
    title="Normalized scores after no-ops",
    theirs=f"Evaluates DQN and Gorila on 49 games: {NO_OPS}. Scores are in percent: a random player has 0 and "
    "the human 100.",
    ours=OURS,
    measures="Percent of the human score after no-ops (no-op-5min)",
    draw=human_normalized(SCORES["table 4"], "no-op-5min"),
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
    title="Normalized scores from human starts",
    theirs=f"Evaluates DQN and Gorila on 49 games: {HUMAN}. Scores are in percent: a random player has 0 and "
    "the human 100.",
    ours=f"{OURS} {HUMAN_STARTS}",
    measures="Percent of the human score from human starts",
    draw=human_normalized(SCORES["table 3"], "human-starts"),
    published=tuple(map(percent_of, PERCENTS["table 2"])),
    runs_of="table-1",
)
TABLE_3 = replace(
    TABLE_2,
    name="table-3",
    label="Table 3",
    title="Scores from human starts",
    theirs=f"Lists the scores behind table 2: {HUMAN}.",
    published=tuple(map(number_of, SCORES["table 3"])),
)
TABLE_4 = replace(
    TABLE_1,
    name="table-4",
    label="Table 4",
    title="Scores after no-ops",
    theirs=f"Lists the scores behind table 1: {NO_OPS}.",
    published=tuple(map(number_of, SCORES["table 4"])),
    runs_of="table-1",
)
FIGURE_3 = replace(
    TABLE_2,
    name="figure-3",
    label="Figure 3",
    title="Table 2 as a bar chart",
    theirs="Shows the scores of table 2 as bars, without scores below random and without Video Pinball.",
)
NORMALIZATION = PaperDifference(
    "normalization",
    "Gorila's scores in percent of DQN's, from the same starts",
    "both scores in percent of the human score",
    "the axis is the same as in table 1; the percentages of DQN are listed below",
)
FIGURE_4 = replace(
    TABLE_1,
    name="figure-4",
    label="Figure 4",
    title="Gorila and DQN by both protocols",
    theirs="Shows Gorila's scores in percent of DQN's, from human starts and after no-ops.",
    ours=f"{OURS} As in table 1, scores are in percent of the human score, with DQN's scores for comparison.",
    differs=(*DIFFERS, NORMALIZATION),
    published=tuple(percent_of(row) for table in PERCENTS.values() for row in table if row.normalized_by == "DQN"),
    runs_of="table-1",
)
ITEMS = (TABLE_1, TABLE_2, TABLE_3, TABLE_4, FIGURE_3, FIGURE_4)
