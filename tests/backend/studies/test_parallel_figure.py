"""Colors of points in the parallel-coordinates figure."""

import pytest

from arcadia_backend.studies.figures import parallel_figure
from arcadia_backend.studies.results import Point
from arcadia_backend.studies.specification import Axis, Specification


@pytest.mark.parametrize(
    ("count", "names"),
    [
        (1, ["best"]),
        (2, ["middle", "best"]),
        (3, ["second", "fourth", "best"]),
        (4, ["second", "middle", "fourth", "best"]),
        (10, ["lowest", "second", "middle", "fourth", "best"]),
    ],
)
def test_best_point_is_in_the_best_fifth(count: int, names: list[str]) -> None:
    axis = Axis(field="learning_rate", values=[rate / 1_000 for rate in range(1, count + 1)])
    asked = Specification(name="Which rate?", preset="paac-cartpole", axes=[axis])
    points = [Point(place, [place], [], 1, 0, float(place), None, None) for place in range(count)]
    drawn = parallel_figure(asked, points).data
    assert [trace["name"] for trace in drawn] == [f"{name} fifth" for name in names]
    assert f": {count - 1} (n = 1)" in str(drawn[-1]["hovertext"])
    # A line ends with a gap.
    assert [list(trace["y"]).count(None) for trace in drawn] == [max(1, count // 5)] * len(names)
