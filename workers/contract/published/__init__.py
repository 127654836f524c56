"""Numbers that the papers publish, with their source, table and protocol in each row.

gorila_scores      Gorila, tables 3 and 4: scores of random, human, DQN and Gorila in 49 games
gorila_normalized  Gorila, tables 1 and 2: the same scores in percent
paac_scores        PAAC, table 1
ga3c_scores        GA3C, table 3
ga3c_systems       GA3C, table 1: the systems of its measurements
ga3c_speed         GA3C, table 2: predictions per second
a3c_summary        A3C, table 1: mean and median over 57 games, human-normalized
a3c_speedup        A3C, table 2: speed-up by number of threads
dqn_zoo_scores     DQN Zoo: scores of random and human in 57 games
diamond_scores     DIAMOND, table 1: scores of agents in the 26 games of Atari 100k
atari_5_weights    Atari-5's authors' code: the weight of each of its games

`protocol` is a name from `workers.contract.protocols` if the paper used that protocol. Otherwise it describes the
paper's protocol in words. Numbers are as printed.
"""

import csv
from functools import cache
from pathlib import Path
from typing import TypeVar

from workers.contract.published.rows import (
    GameWeight,
    NormalizedScore,
    PredictionSpeed,
    Row,
    Score,
    Speedup,
    Summary,
    System,
)

HERE = Path(__file__).parent
SomeRow = TypeVar("SomeRow", bound=Row)

SCORES = ("gorila_scores", "paac_scores", "ga3c_scores", "dqn_zoo_scores", "diamond_scores")


def _read(table: str, kind: type[SomeRow]) -> tuple[SomeRow, ...]:
    with (HERE / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        return tuple(kind.model_validate(row) for row in csv.DictReader(file))


@cache
def scores() -> tuple[Score, ...]:
    """Return all published scores of games."""
    return tuple(row for table in SCORES for row in _read(table, Score))


@cache
def atari_5_weights() -> tuple[GameWeight, ...]:
    """Return the weights of the games of Atari-5."""
    return _read("atari_5_weights", GameWeight)


@cache
def normalized_scores() -> tuple[NormalizedScore, ...]:
    """Return all published human-normalized scores."""
    return _read("gorila_normalized", NormalizedScore)


@cache
def summaries() -> tuple[Summary, ...]:
    """Return the published means and medians over games."""
    return _read("a3c_summary", Summary)


@cache
def speedups() -> tuple[Speedup, ...]:
    """Return the published speed-ups by number of threads."""
    return _read("a3c_speedup", Speedup)


@cache
def prediction_speeds() -> tuple[PredictionSpeed, ...]:
    """Return the published predictions per second by system and network."""
    return _read("ga3c_speed", PredictionSpeed)


@cache
def systems() -> tuple[System, ...]:
    """Return every system that GA3C was measured on."""
    return _read("ga3c_systems", System)
