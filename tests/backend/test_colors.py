"""Colors and dashes of lines in charts."""

from arcadia_backend.colors import PALETTE, color_of, group_strokes, own_strokes, strokes


def test_runs_side_by_side_are_drawn_by_their_positions() -> None:
    numbers = [7, 17, 27, *range(100, 197)]
    drawn = strokes(numbers)
    assert len(set(drawn.values())) == len(numbers)
    first = [drawn[number] for number in numbers[:8]]
    assert len({stroke.color for stroke in first}) == 8
    assert {stroke.dash for stroke in first} == {"solid"}
    assert (drawn[numbers[8]].color, drawn[numbers[8]].dash) == (first[0].color, "dash")


def test_groups_have_the_palettes_colors_in_order_and_their_runs_share_them() -> None:
    drawn = group_strokes([[1, 2, 3, 4, 5, 6], [7], [8, 9]])
    assert {drawn[run].color for run in range(1, 7)} == {PALETTE[0]}
    assert (drawn[7].color, drawn[8].color, drawn[9].color) == (PALETTE[1], PALETTE[2], PALETTE[2])


def test_a_single_run_has_its_own_color() -> None:
    assert strokes([17])[17] == (color_of(17), "solid")


def test_runs_in_their_own_colors_differ_in_dashes_if_they_share_one() -> None:
    drawn = own_strokes([7, 8, 17, 27])
    assert [drawn[run].color for run in (7, 8, 17, 27)] == [color_of(run) for run in (7, 8, 17, 27)]
    assert [drawn[run].dash for run in (7, 8, 17, 27)] == ["solid", "solid", "dash", "dot"]
