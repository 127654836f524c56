"""Charts in the terminal."""

from __future__ import annotations

from math import inf, nan

from arcadia.cli.metrics import draw_chart, draw_sparkline


def test_a_rising_line_goes_from_the_lower_left_to_the_upper_right() -> None:
    lines = draw_chart([0, 100], [1, 5], width=13, height=3)
    assert [line[3:].strip("⠀") != "" for line in lines[:3]] == [True, True, True]
    assert lines[0][-1] != "⠀"
    assert lines[2][3] != "⠀"
    assert lines[3].split() == ["0", "100"]


def test_values_that_are_not_finite_are_left_out() -> None:
    assert draw_chart([1, 2, 3], [nan, inf, -inf], 20, 4) == []
    assert draw_chart([1, 2, 3], [2, nan, 4], 20, 4) == draw_chart([1, 3], [2, 4], 20, 4)


def test_one_point_and_a_constant_line_are_in_the_middle() -> None:
    for xs, ys in (([5], [7]), ([5, 6], [7, 7])):
        lines = draw_chart(xs, ys, 20, 5)
        assert [line for line in lines[:5] if line.strip("⠀7 ┤")] == [lines[2]]


def test_a_chart_fits_its_width() -> None:
    lines = draw_chart(list(range(1_000)), [float(x * x) for x in range(1_000)], 60, 8)
    assert len(lines) == 9
    assert max(map(len, lines)) <= 60


def test_a_sparkline_averages_neighboring_values() -> None:
    assert draw_sparkline([0, 1, 2, 3], 4) == "▁▃▆█"
    assert draw_sparkline([0, 2, 4, 6], 2) == "▁█"
    assert draw_sparkline([nan], 4) == ""
