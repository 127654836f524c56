"""Tests for all rows of the papers' published numbers."""

import csv
from pathlib import Path

import pytest

from arcadia_workers.contract import published
from arcadia_workers.contract.games import ENVIRONMENTS, GAMES_OF_THE_PAPERS
from arcadia_workers.contract.protocols import PROTOCOLS
from arcadia_workers.contract.published import NormalizedScore, Row, Score, normalized, reference

FOLDER = Path(published.__file__).parent
PAPERS = {
    "A3C (Mnih et al. 2016)",
    "PAAC (Clemente et al. 2017)",
    "GA3C (Babaeizadeh et al. 2017)",
    "Gorila (Nair et al. 2015)",
    "DQN Zoo (Quan and Ostrovski 2020)",
    "DIAMOND (Alonso et al. 2024)",
    "Atari-5 (Aitchison et al. 2023)",
}
EVERY_ROW: list[Row] = [
    *published.scores(),
    *published.normalized_scores(),
    *published.summaries(),
    *published.speedups(),
    *published.prediction_speeds(),
    *published.systems(),
    *published.atari_5_weights(),
]


def of_table(source: str, table: str) -> list[Score]:
    return [row for row in published.scores() if row.source.startswith(source) and row.table == table]


def score(source: str, table: str, env: str, player: str) -> float:
    (found,) = [row.score for row in of_table(source, table) if (row.env, row.player) == (f"ALE/{env}-v5", player)]
    return found


def test_every_row_of_every_file_is_read() -> None:
    rows = [row for file in FOLDER.glob("*.csv") for row in csv.DictReader(file.open())]
    assert len(rows) == len(EVERY_ROW) == 1_069
    assert sorted((row["source"], row["table"], row["protocol"]) for row in rows) == sorted(
        (row.source, row.table, row.protocol) for row in EVERY_ROW
    )


def test_every_row_has_a_source_and_a_protocol() -> None:
    assert {row.source for row in EVERY_ROW} == PAPERS
    for row in EVERY_ROW:
        # The name of one of our protocols, or a description.
        assert row.protocol in PROTOCOLS or " " in row.protocol, row


def test_scores_are_unique_and_of_games_of_the_papers() -> None:
    games = [row for row in EVERY_ROW if isinstance(row, Score | NormalizedScore)]
    assert {ENVIRONMENTS[row.env].group for row in games} == {"Atari, of the papers"}
    scores = [(row.source, row.table, row.env, row.player) for row in published.scores()]
    assert len(scores) == len(set(scores))
    for row in games:
        # The papers spell the names of games differently, but with the same letters.
        letters = "".join(filter(str.isalnum, row.game)).lower()
        assert letters == row.env.removeprefix("ALE/").removesuffix("-v5").lower()


def test_gorilas_tables_have_49_games_with_four_scores_each() -> None:
    for table in ("table 3", "table 4"):
        rows = of_table("Gorila", table)
        assert len({row.env for row in rows}) == 49 < len(GAMES_OF_THE_PAPERS)
        assert len(rows) == 4 * 49


@pytest.mark.parametrize(
    ("place", "printed"),
    [
        (("Gorila", "table 3", "Pong", "random"), -18.0),
        (("Gorila", "table 3", "Zaxxon", "Gorila"), 6159.4),
        (("Gorila", "table 4", "Alien", "human"), 6875.4),
        (("Gorila", "table 4", "Zaxxon", "DQN"), 4976.7),
        (("PAAC", "table 1", "UpNDown", "PAAC arch_nature"), 100523.3),
        (("PAAC", "table 1", "Amidar", "A3C FF"), 263.9),
        (("GA3C", "table 3", "Qbert", "GA3C"), 14966),
        (("DQN Zoo", "atari_data.py", "Phoenix", "human"), 7242.6),
        (("DIAMOND", "table 1", "UpNDown", "TWM"), 15981.7),
    ],
)
def test_numbers_equal_the_printed_ones(place: tuple[str, str, str, str], printed: float) -> None:
    assert score(*place) == printed


def test_the_other_tables_have_their_numbers() -> None:
    assert {(row.method, row.training_time): row.median_percent for row in published.summaries()}[
        ("A3C, FF", "4 days on CPU")
    ] == 116.6
    assert {(row.method, row.threads): row.speedup for row in published.speedups()}[("1-step Q", 16)] == 24.1
    (largest,) = [row for row in published.prediction_speeds() if (row.system, row.network) == ("I", "large, stride 1")]
    assert (largest.ga3c_pps, largest.speedup) == (490, 45)


def test_gorilas_percentages_follow_from_its_scores() -> None:
    """Find typos: tables 1 and 2 are tables 4 and 3, normalized by random and human scores."""
    agreeing = 0
    of_human = [row for row in published.normalized_scores() if row.normalized_by == "human"]
    for row in of_human:
        by = reference(row.env, row.protocol)
        if not isinstance(by, str):
            raw = score("Gorila", by.table, row.env.removeprefix("ALE/").removesuffix("-v5"), row.player)
            agreeing += abs(normalized(raw, by) - row.percent) < 0.02 * max(1, abs(row.percent))
    assert agreeing / len(of_human) > 0.9, agreeing


def test_reference_scores_come_from_the_table_of_the_same_protocol() -> None:
    by = reference("ALE/Pong-v5", "human-starts")
    assert not isinstance(by, str)
    assert (by.table, by.random, by.human) == ("table 3", -18.0, 15.5)
    assert normalized(15.5, by) == 100
    assert normalized(-18.0, by) == 0
    assert "beats the human" in str(reference("ALE/VideoPinball-v5", "human-starts"))
    assert not isinstance(reference("ALE/VideoPinball-v5", "no-op-5min"), str)


@pytest.mark.parametrize(
    ("agent", "mean", "above_human"),
    [("SimPLe", 0.332, 1), ("TWM", 0.956, 8), ("IRIS", 1.046, 10), ("STORM", 1.266, 10), ("DIAMOND", 1.459, 11)],
)
def test_diamonds_printed_means_follow_from_its_scores(agent: str, mean: float, above_human: int) -> None:
    """Find typos: DIAMOND's table 1 also has the mean and the number of games with scores above human."""
    found = {row.env: row.score for row in of_table("DIAMOND", "table 1") if row.player == agent}
    percents = []
    for env, value in found.items():
        by = reference(env, "no-op-30min")
        assert not isinstance(by, str)
        percents.append(normalized(value, by))
    assert len(percents) == 26
    assert sum(percents) / 2600 == pytest.approx(mean, abs=0.0005)
    assert sum(percent >= 100 for percent in percents) == above_human


def test_dqn_zoo_has_random_and_human_of_57_games() -> None:
    rows = of_table("DQN Zoo", "atari_data.py")
    assert {row.env for row in rows} == {f"ALE/{game}-v5" for game in GAMES_OF_THE_PAPERS}
    assert len(rows) == 2 * 57
    # The random scores equal those in Gorila's table.
    random = {row.env: row.score for row in rows if row.player == "random"}
    gorilas = {row.env: row.score for row in of_table("Gorila", "table 4") if row.player == "random"}
    assert {env: random[env] for env in gorilas} == gorilas


def test_the_weights_of_atari_5_belong_to_its_five_games() -> None:
    weights = {row.game: row.weight for row in published.atari_5_weights()}
    assert weights.keys() == {"BattleZone", "DoubleDunk", "NameThisGame", "Phoenix", "Qbert"}
    assert sum(weights.values()) == pytest.approx(0.9653, abs=0.0001)


def test_scores_with_sticky_actions_are_normalized_by_no_op_scores() -> None:
    """Check the substitution. No paper prints random and human scores with sticky actions."""
    assert reference("ALE/Phoenix-v5", "sticky-30min") == reference("ALE/Phoenix-v5", "no-op-30min")
    assert reference("ALE/Pong-v5", "agent-starts") != reference("ALE/Pong-v5", "no-op-30min")


def test_ga3cs_systems_are_those_of_its_table_1() -> None:
    found = [(row.system, row.processor, row.gigahertz, row.cores, row.gpu, row.cuda) for row in published.systems()]
    assert found == [
        ("I", "Xeon E5-2640v3, dual socket", 2.6, 16, "Geforce Titan X (Maxwell)", "7.5"),
        ("II", "Core i-3820", 3.6, 8, "GeForce 980 (Maxwell)", "7.5"),
        ("III", "Haswell E5-2698v3", 2.3, 16, "Tesla K80 (Kepler)", "7.5"),
        ("IV", "Xeon E5-2680v2", 2.8, 10, "Quadro M6000 (Maxwell)", "8"),
    ]
