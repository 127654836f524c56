"""Lines in charts."""

from backend.colors import color_of, strokes
from backend.runs.selection import MAX_RUNS


def test_runs_beside_one_another_are_drawn_by_their_places() -> None:
    numbers = [7, 17, 27, *range(100, 197)]
    drawn = strokes(numbers)
    assert len(set(drawn.values())) == len(numbers) == MAX_RUNS
    first = [drawn[number] for number in numbers[:8]]
    assert len({stroke.color for stroke in first}) == 8
    assert {stroke.dash for stroke in first} == {"solid"}
    assert (drawn[numbers[8]].color, drawn[numbers[8]].dash) == (first[0].color, "dash")


def test_a_run_alone_has_its_own_colour() -> None:
    assert strokes([17])[17] == (color_of(17), "solid")
