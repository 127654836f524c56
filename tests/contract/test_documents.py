"""Links and paths in the documents: the files exist and contain the named code."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCUMENTS = [*sorted(ROOT.glob("[CRS]*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"!?\[([^\]]*)\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
NAME = re.compile(r"`(\w+)`")
PLACE = re.compile(r"`((?:backend|workers|frontend|tests|bench|setup|alembic|docs)/[\w./-]*)`")
# Examples of files that a reader would add.
MADE_UP = {
    "backend/figures/step_counts.py",
    "tests/backend/figures/test_step_counts.py",
    "tests/workers/trainer/methods/test_my_method.py",
    "workers/contract/config/my_method.py",
    "workers/trainer/methods/my_method.py",
}


def links(document: Path) -> Iterator[tuple[str, Path]]:
    """Yield the text and the target of every link to a file of the project."""
    for text, target in LINK.findall(document.read_text()):
        if "://" not in target:
            yield text, (document.parent / target).resolve()


def label(document: Path) -> str:
    """Return a document's path, as the name of its test case."""
    return str(document.relative_to(ROOT))


@pytest.mark.parametrize("document", DOCUMENTS, ids=label)
def test_every_linked_file_exists_and_contains_the_name_in_the_link(document: Path) -> None:
    wrong = []
    for text, target in links(document):
        if not target.exists():
            wrong.append(f"[{text}] leads to {target.name}, which is not there")
        elif (name := NAME.fullmatch(text)) and target.is_file() and name[1] not in target.read_text():
            wrong.append(f"{target.relative_to(ROOT)} holds no {name[1]}")
    assert wrong == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=label)
def test_every_path_in_a_document_exists(document: Path) -> None:
    named = set(PLACE.findall(document.read_text())) - MADE_UP
    assert {place for place in named if not (ROOT / place).exists()} == set()


def test_the_recipes_link_to_many_files() -> None:
    recipes = ROOT / "docs" / "extending.md"
    assert len(set(links(recipes))) >= 30
    assert len(re.findall(r"^## Add ", recipes.read_text(), re.MULTILINE)) == 11


@pytest.mark.parametrize("walk", ["A configuration", "A checkpoint"])
def test_a_walk_visits_at_most_eight_places_once_and_its_files_exist(walk: str) -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    (steps,) = re.findall(rf"\*\*{walk}, from [^*]+\*\*\n\n((?:\d\. .*\n(?:   .*\n)*)+)", text)
    found = re.findall(r"^\d\. `([\w./-]+)`: ((?:.*\n(?:   .*\n)*))", steps, re.MULTILINE)
    rooms = [ROOT / room for room, _ in found]
    assert 5 <= len(rooms) <= 8
    assert len(set(rooms)) == len(rooms), "a walk visits each place once"
    for room, words in found:
        named = [ROOT / room / name for name in re.findall(r"`(\w+\.tsx?|(?!config\.json)\w+\.py)`", words)]
        assert all(path.exists() for path in (ROOT / room, *named)), named


def test_the_walk_of_a_metric_enters_at_most_thirty_files_once() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    (table,) = re.findall(r"\*\*A metric, from [^*]+\*\*\n\n(?:.+\n)+\n((?:\|.*\n)+)", text)
    files = re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)
    assert 20 <= len(files) <= 30
    assert len(set(files)) == len(files), "the walk returns to a file"
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_the_index_of_decisions_has_each_once() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\((\d{4}-[^)]+\.md)\)", (folder / "README.md").read_text())
    assert sorted(listed) == sorted(path.name for path in folder.glob("0*.md"))
