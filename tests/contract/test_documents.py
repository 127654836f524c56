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
PROGRAM = re.compile(r"python -m ((?:bench|tests|setup|arcadia_\w+)[\w.]*)")
TARGET = re.compile(r"`make ([a-z-]+)")
# Texts that quote commands.
QUOTING = [*DOCUMENTS, ROOT / "Makefile", ROOT / "docs" / "results" / "data" / "index.toml"]
# Examples of files that a reader would add.
MADE_UP = {
    "backend/arcadia_backend/figures/step_counts.py",
    "tests/backend/figures/test_step_counts.py",
    "tests/workers/trainer/methods/test_my_method.py",
    "workers/arcadia_workers/contract/config/my_method.py",
    "workers/arcadia_workers/trainer/methods/my_method.py",
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


@pytest.mark.parametrize("document", QUOTING, ids=label)
def test_every_quoted_command_exists(document: Path) -> None:
    text = document.read_text()
    missing = [name for name in PROGRAM.findall(text) if not is_program(name.rstrip("."))]
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert missing + [name for name in TARGET.findall(text) if name not in targets] == []


def is_program(name: str) -> bool:
    """Return True if a module can be run."""
    path = name.replace(".", "/")
    found = [ROOT / folder / path for folder in ("", "backend", "workers")]
    return any(each.with_suffix(".py").is_file() or (each / "__main__.py").is_file() for each in found)


def test_the_recipes_link_to_many_files() -> None:
    recipes = ROOT / "docs" / "extending.md"
    assert len(set(links(recipes))) >= 30
    assert len(re.findall(r"^## Add ", recipes.read_text(), re.MULTILINE)) == 11


def test_the_table_of_nouns_names_files_that_exist() -> None:
    section = (
        (ROOT / "docs" / "architecture.md").read_text().partition("### The files of each noun\n")[2].partition("\n#")[0]
    )
    rows = [line.strip("| ").split("|")[1:] for line in section.splitlines()[6:] if line.startswith("| ")]
    pages, packages = ("frontend/src/pages/", "frontend/src/"), ("client/arcadia/_async/", "client/arcadia/")
    places = (
        ("backend/arcadia_backend/",),
        ("backend/arcadia_backend/database/tables/",),
        ("frontend/src/api/",),
        pages,
        packages,
    )
    assert len(rows) > 20
    for row in rows:
        for cell, folders in zip(row, places, strict=True):
            for name in re.findall(r"`([^`]+)`", cell):
                assert any((ROOT / folder / name).exists() for folder in folders), name


def test_the_index_of_decisions_has_each_once() -> None:
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"\((\d{4}-[^)]+\.md)\)", (folder / "README.md").read_text())
    assert sorted(listed) == sorted(path.name for path in folder.glob("0*.md"))
