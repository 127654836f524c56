"""Figures as images: drawing and rejections."""

import re
from typing import Any

import pytest
from arcadia.errors import ArcadiaError
from arcadia.figures import to_image

LOW = {"type": "scatter", "x": [0, 1, 2], "y": [0, 1, 2], "line": {"width": 0}, "showlegend": False}
HIGH = {**LOW, "y": [2, 3, None], "fill": "tonexty", "fillcolor": "rgba(31,119,180,0.15)"}
MEAN = {"x": [0, 1, 2], "y": [1, 2, 2.5], "name": "lr &lt; 1 &#36;x&#36;", "line": {"color": "#1f77b4", "dash": "dash"}}
AXES = {"xaxis": {"title": {"text": "agent steps"}, "type": "linear"}, "yaxis": {"title": {"text": "return"}}}


def svg(traces: list[dict[str, Any]], **layout: Any) -> str:
    """Return the SVG of a figure. Its texts are comments, since letters are drawn as paths."""
    return to_image({"data": traces, "layout": {**AXES, **layout}}, "svg").decode()


def texts(image: str) -> list[str]:
    return [text.strip() for text in re.findall(r"<!--(.*?)-->", image, re.DOTALL)]


def test_names_and_titles_are_plain_text() -> None:
    shown = texts(svg([LOW, HIGH, MEAN]))
    assert {"agent steps", "return", "lr &lt; 1 $x$"} <= set(shown)


def test_a_band_is_filled_between_two_traces() -> None:
    image = svg([LOW, HIGH, MEAN])
    assert "fill: #1f77b4; fill-opacity: 0.15" in image


def test_a_gap_is_not_drawn_as_zero() -> None:
    gap = {**MEAN, "y": [1, None, 3]}
    assert svg([gap]) != svg([{**MEAN, "y": [1, 0, 3]}])


def test_a_legend_entry_appears_once_per_name() -> None:
    assert len([text for text in texts(svg([{**MEAN, "name": "a"}, {**MEAN, "name": "a"}])) if text == "a"]) == 1


@pytest.mark.parametrize("letters", [15, 40, 60, 100])
def test_the_legend_fits_into_the_image(letters: int) -> None:
    image = svg([{**MEAN, "name": f"{number}" + "x" * letters} for number in range(4)])
    (width,) = re.findall(r'viewBox="0 0 ([\d.]+) ', image)
    begins = [float(x) for x in re.findall(r"<!-- \dx+ -->\s*<g [^>]*translate\(([-\d.]+) ", image)]
    letter_points = 4.5
    assert len(begins) == 4
    assert min(begins) > 0
    assert max(begins) + letters * letter_points < float(width)


def test_ticks_have_the_texts_of_the_figure() -> None:
    axis = {"tickvals": [1048576, 2097152], "ticktext": ["1 MiB", "2 MiB"]}
    assert {"1 MiB", "2 MiB"} <= set(texts(svg([MEAN], yaxis=axis)))


def test_ticks_of_large_numbers_are_short() -> None:
    shown = texts(svg([{**MEAN, "x": [0, 1_000_000, 2_000_000], "y": [-0.5, 0, 0.5]}]))
    assert {"0", "500k", "1M", "1.5M", "\N{MINUS SIGN}0.4", "0.4"} <= set(shown)


def test_bars_are_stacked_on_each_other() -> None:
    bars = [{"type": "bar", "x": ["16", "32"], "y": [height, 1], "name": f"{height}"} for height in (2, 3)]
    stacked, beside = svg(bars, barmode="stack"), svg(bars)
    assert "5" in texts(stacked), "the axis reaches the sum"
    assert "5" not in texts(beside)


def test_the_same_figure_gives_the_same_file() -> None:
    figure = {"data": [LOW, HIGH, MEAN], "layout": AXES}
    assert to_image(figure, "png") == to_image(figure, "png")
    assert to_image(figure, "png").startswith(b"\x89PNG")
    assert to_image(figure, "pdf").startswith(b"%PDF")


def test_traces_of_other_types_are_rejected() -> None:
    with pytest.raises(ArcadiaError, match=r"cannot show traces of type parcoords"):
        svg([{"type": "parcoords"}])


def test_an_empty_figure_is_drawn() -> None:
    assert "return" in texts(svg([]))
