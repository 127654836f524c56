"""Tests of the formatting of sizes."""

import math

import pytest

from arcadia_backend.figures.drawing import MAX_TICKS, format_size, size_ticks

MIB, GIB = 2**20, 2**30


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0, 6, ["0 B", "1 B", "2 B", "3 B", "4 B", "5 B", "6 B"]),
        (600 * MIB, 690 * MIB, ["608 MiB", "624 MiB", "640 MiB", "656 MiB", "672 MiB", "688 MiB"]),
        (0.4 * GIB, 2 * GIB, ["0.5 GiB", "0.75 GiB", "1 GiB", "1.25 GiB", "1.5 GiB", "1.75 GiB", "2 GiB"]),
        (3 * GIB, 3 * GIB + MIB / 2, [f"{3072 + n / 16:.10g} MiB" for n in range(9)]),
    ],
)
def test_ticks_are_at_powers_of_two(low: float, high: float, labels: list[str]) -> None:
    assert size_ticks(low, high)["ticktext"] == labels


@pytest.mark.parametrize("span", [1.0, 3.0, 1e3, 7e5, 1e9, 3e13, 1e18])
def test_the_number_of_ticks_is_limited(span: float) -> None:
    assert 2 <= len(size_ticks(0, span)["tickvals"]) <= MAX_TICKS + 1


@pytest.mark.parametrize("high", [0.0, 1e300, math.inf, math.nan])
def test_an_absurd_range_gets_no_ticks(high: float) -> None:
    assert size_ticks(0, high) == {}


def test_a_size_has_the_largest_unit_that_fits() -> None:
    sizes = [0, 1023, 1024, 650 * MIB, 1.5 * GIB, 2**50, math.nan]
    assert [format_size(count) for count in sizes] == ["0 B", "1023 B", "1 KiB", "650 MiB", "1.5 GiB", "1 PiB", ""]
