"""Tests of the ticks of a time axis."""

import pytest

from arcadia_backend.figures.drawing import MAX_TICKS, duration_ticks, format_duration


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0, 5.5, ["0", "1 s", "2 s", "3 s", "4 s", "5 s"]),
        (0, 42, ["0", "10 s", "20 s", "30 s", "40 s"]),
        (50, 200, ["1 min", "1 min 30 s", "2 min", "2 min 30 s", "3 min"]),
        (0, 7_300, ["0", "30 min", "1 h", "1 h 30 min", "2 h"]),
        (0, 4 * 86_400, ["0", "1 d", "2 d", "3 d", "4 d"]),
    ],
)
def test_ticks_are_at_whole_units(low: float, high: float, labels: list[str]) -> None:
    assert duration_ticks(low, high)["ticktext"] == labels


@pytest.mark.parametrize("span", [0.0, 1.0, 59.0, 3_601.0, 90_000.0, 1e7, 1e9])
def test_the_number_of_ticks_is_limited(span: float) -> None:
    places = duration_ticks(0, span)["tickvals"]
    assert 1 <= len(places) <= MAX_TICKS + 1
    assert places[0] == 0


def test_a_duration_has_its_two_largest_units() -> None:
    assert [format_duration(seconds) for seconds in (0, 59, 3_600, 90_061)] == ["0", "59 s", "1 h", "1 d 1 h"]
