"""Pages of docs/results: their tables and numbers are those that the data gives."""

import shutil
from pathlib import Path

import pytest

from bench.tables.__main__ import PARTS
from bench.tables.cells import mean_interval, percentile, with_interval
from bench.tables.data import DATA, INDEX, TABLES, read_index, read_rows
from bench.tables.experiments import confirmed_mistakes
from bench.tables.learning import greedy_error
from bench.tables.pages import markdown, pages, problems, updated

MAX_BYTES = 300_000
PAGE = """# Speed

<!-- table job_cost -->

{}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a copy of the data that a test may change."""
    return Path(shutil.copytree(DATA, tmp_path / "data"))


def page_of(folder: Path, text: str) -> Path:
    page = folder / "page.md"
    page.write_text(text)
    return page


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.name)
def test_every_table_and_every_number_of_a_page_is_in_its_data(page: Path) -> None:
    assert list(problems(page)) == []


def test_every_part_registers_tables() -> None:
    modules = {table.compute.__module__ for table in TABLES.values()}
    assert modules == {part.__name__ for part in PARTS}


def test_every_file_has_an_origin_and_a_table() -> None:
    files = {path.name for path in DATA.iterdir()} - {INDEX}
    assert files == read_index().keys()
    assert files <= {file for table in TABLES.values() for file in table.files}
    for name, entry in read_index().items():
        assert {"kind", "unit", "commit", "date", "machine", "command"} <= entry.keys(), name
        assert entry["kind"] in ("raw", "record", "published"), name
    for file in files:
        if "of each row" in read_index()[file]["commit"]:
            assert all(row["commit"] for row in read_rows(DATA / file)), file


def test_the_data_is_small() -> None:
    assert sum(path.stat().st_size for path in DATA.iterdir()) <= MAX_BYTES


def test_every_table_is_on_one_page() -> None:
    text = "".join(page.read_text() for page in pages())
    shown = {name: text.count(f"<!-- table {name} -->") for name in TABLES}
    assert {name: count for name, count in shown.items() if count != 1} == {}


def test_a_changed_value_is_reported(folder: Path) -> None:
    page = page_of(folder, updated(PAGE.format("Done."), folder))
    assert list(problems(page, folder)) == []
    data = folder / "job-cost.csv"
    data.write_text(data.read_text().replace("1,2299,", "1,2300,"))
    read_rows.cache_clear()
    assert ["differs" in each for each in problems(page, folder)] == [True]


def test_a_table_without_data_is_reported(folder: Path) -> None:
    page = page_of(folder, "# Speed\n\n| steps |\n| --- |\n| many |\n")
    assert list(problems(page, folder)) == ["page.md, Speed: a table has no data"]


def test_a_table_that_nothing_computes_is_reported(folder: Path) -> None:
    page = page_of(folder, "# Speed\n\n<!-- table unknown -->\n")
    assert list(problems(page, folder)) == ["page.md: no function computes the table unknown"]


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("The median is 0.964, below 1.9.", "1.9"),
        ("Alone it makes 2,299 steps/s, and 2.3 M in a while.", "2.3"),
        ("The job used 20 % of a core, as decision 5 of Mnih et al. 2016 says.", ""),
        ("It took 7,777 steps.", "7,777"),
        ("The median is -0.964.", "-0.964"),
        ("It was in 2026.", "2026"),
    ],
)
def test_a_number_that_is_not_in_the_data_is_reported(folder: Path, text: str, missing: str) -> None:
    page = page_of(folder, updated(PAGE.format(text), folder))
    assert list(problems(page, folder)) == ([f"page.md, Speed: not in its data: {missing}"] if missing else [])


def test_a_number_in_a_section_without_data_is_reported(folder: Path) -> None:
    page = page_of(folder, updated(PAGE.format("## Later\n\nIt took 2,299 steps.\n\n# Other\n\nIt took 9 s."), folder))
    assert list(problems(page, folder)) == ["page.md, Other: not in its data: 9"]


def test_failed_runs_of_ppo_are_counted_beside_the_mean_of_the_others(folder: Path) -> None:
    text = "# PPO\n\n<!-- table ppo_mujoco -->\n"
    rows = ["Hopper-v5,1,finished,2000,1000000,a", "Hopper-v5,2,finished,2200,1000000,a"]
    rows += ["Hopper-v5,3,finished,2400,1000000,a", "Hopper-v5,4,failed,,300000,a", "Reacher-v5,1,finished,-5,1,a"]
    (folder / "ppo-mujoco.csv").write_text("\n".join(["task,seed,status,final_return,steps,commit", *rows]))
    shown = updated(text, folder)
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in shown.split("\n") if "-v5" in line]
    # The deviation is 200, and the quantile of Student's t with two degrees of freedom 4.303.
    assert cells == [
        ["Hopper-v5", "4", "1", "2,200 ± 497", "2,383 (SD 272)", "2,410 (SD 10)"],
        ["Reacher-v5", "1", "0", "−5", "–", "–"],
    ]
    assert "seeds 1 to 4, 1 failed" in " ".join(shown.split())
    assert list(problems(page_of(folder, shown), folder)) == []
    assert updated(shown, folder) == shown


def test_means_of_fewer_than_three_runs_have_no_interval() -> None:
    assert mean_interval([1.0, 2.0]) == "1.5"
    assert mean_interval([1.0, 2.0, 3.0]) == "2.0 ± 2.5"
    assert mean_interval([]) == "–"


def test_episodes_have_half_of_the_interval_of_their_mean() -> None:
    # The quantile of Student's t with 29 degrees of freedom is 2.045.
    assert with_interval(20.27, 0.2, 30, 2) == "20.27 ± 0.41"
    assert [with_interval(21.0, error, 30, 2) for error in (0, None)] == ["21.00", "21.00"]
    assert with_interval(None, None, 30) == "–"


def test_the_mean_of_greedy_episodes_has_an_error() -> None:
    assert greedy_error(read_rows(DATA / "breakout-greedy.csv")) == pytest.approx(2.35, abs=0.01)


def test_a_mistake_is_confirmed_above_the_margin() -> None:
    rows = [{"kind": "own", "loss": loss, "half_width": 0.05} for loss in (0.06, 0.08)]
    # Both intervals are above 0, and one of them is above the margin of 0.02.
    assert confirmed_mistakes(rows)[1][:4] == ["own", "2", "2", "1"]


def test_percentiles_are_interpolated() -> None:
    assert percentile([3.0, 1.0, 2.0, 4.0], 0.5) == 2.5
    assert percentile([7.0], 0.95) == 7.0


def test_columns_of_tables_are_aligned() -> None:
    assert markdown([["a", "long"], ["−1", "2"]]) == ["| a   | long |", "| --- | ---- |", "| −1  | 2    |"]
