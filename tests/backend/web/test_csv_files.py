"""CSV rows with names that contain special characters."""

import csv

import pytest

from arcadia_backend.web.formats import csv_line


@pytest.mark.parametrize("name", ["agent\r=1+1", "two\nlines", 'a "quote", and a comma', "both\r\n"])
def test_a_name_of_any_characters_is_one_cell_of_one_row(name: str) -> None:
    assert list(csv.reader([csv_line([1, name, 2.5])])) == [["1", name, "2.5"]]


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_a_name_is_never_run_as_a_formula(name: str) -> None:
    assert list(csv.reader([csv_line([name])])) == [[f"'{name}"]]
