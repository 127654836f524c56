"""Tests of the histogram of an evaluation's scores."""

import math

import pytest

from arcadia_backend.figures.drawing import Figure
from arcadia_backend.figures.score_figures import scores_figure
from arcadia_workers.contract.protocols.document import EvaluationDocument
from tests.factories import evaluation


def found(*scores: float) -> EvaluationDocument:
    """Return the result of an evaluation with these scores."""
    return EvaluationDocument.model_validate(evaluation(1, list(scores))["document"])


def drawn(*scores: float) -> Figure:
    """Return the figure of a finished evaluation."""
    return scores_figure(scores, found(*scores), "#0072b2")


def bars(*scores: float) -> dict[str, int]:
    """Return the number of episodes in each nonempty bar, by its tooltip."""
    (trace,) = drawn(*scores).data
    words = [text.split(": ")[1] for text in trace["hovertext"]]
    return {word: count for word, count in zip(words, trace["y"], strict=True) if count}


def test_close_whole_scores_have_a_bar_each() -> None:
    assert bars(19, 21, 21, 20, 21) == {"19": 1, "20": 1, "21": 3}
    assert bars(500, 500) == {"500": 2}
    axes = drawn(-21, -20).layout
    assert (axes["xaxis"]["dtick"], axes["yaxis"]["dtick"]) == (1, 1), "no tick is at a half"


def test_distant_whole_scores_share_bars_of_whole_numbers() -> None:
    counts = bars(*range(0, 1_000, 10))
    assert sum(counts.values()) == 100
    assert 5 < len(counts) <= 40
    assert all(int(word.split(" to ")[1]) - int(word.split(" to ")[0]) > 1 for word in counts)


@pytest.mark.parametrize("scores", [(0.5, 0.75, 1.25), (-1e9, 1e9), (0.1, 0.1), (1e15 / 2, 0.0), (-3.0, 4.5)])
def test_every_episode_is_in_a_bar_within_the_axis(scores: tuple[float, ...]) -> None:
    figure = drawn(*scores)
    assert sum(figure.data[0]["y"]) == len(scores)
    low, high = figure.layout["xaxis"]["range"]
    assert low <= min(scores)
    assert max(scores) <= high


def test_the_mean_is_a_line_in_its_interval() -> None:
    figure = drawn(1, 2, 3)
    line, band = figure.layout["shapes"]
    assert (line["x0"], line["x1"], band["x0"], band["x1"]) == (2, 2, 1, 3)
    assert figure.layout["annotations"][0]["text"] == "mean 2"


@pytest.mark.parametrize(
    ("scores", "label"), [((1, 2, 2), "mean 1.67"), ((-20.04, -20.04), "mean −20"), ((1234.4, 1234.4), "mean 1234")]
)
def test_the_mean_has_few_digits(scores: tuple[float, ...], label: str) -> None:
    assert drawn(*scores).layout["annotations"][0]["text"] == label


def test_nan_and_huge_scores_are_left_out() -> None:
    figure = drawn(math.nan, 7, math.inf, -1e300)
    assert sum(figure.data[0]["y"]) == 1
    assert "shapes" not in figure.layout
    assert drawn(math.nan).data == []
    assert scores_figure([], None, "#0072b2").data == []
