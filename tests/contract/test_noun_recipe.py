"""The worked example of a noun in docs/recipes/noun.md, applied to a copy of the project."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.contract.recipes import ROOT, Copy, newest_revision, recipe

MAX_FILES = 16
COPIED = (
    "alembic",
    "backend",
    "client",
    "frontend",
    "tests",
    "workers",
    "alembic.ini",
    "pyproject.toml",
)
STEP = re.compile(
    r"^### ([\w./\\-]+)(?:, after `([^`\n]+)`|(, at its end))?\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL
)


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """Return a copy of the project. The packages of the frontend are linked."""
    copied = Copy(tmp_path, *COPIED)
    (tmp_path / "frontend" / "node_modules").symlink_to(ROOT / "frontend" / "node_modules")
    return copied


def apply_example(copy: Copy) -> set[str]:
    """Apply the worked example. Return the paths of its files."""
    steps = STEP.findall((ROOT / "docs" / "recipes" / "noun.md").read_text())
    for name, anchor, is_end, code in steps:
        file = name.replace("\\", "")
        path = copy.folder / file
        if anchor:
            lines = path.read_text().splitlines(keepends=True)
            (place,) = (n for n, line in enumerate(lines, 1) if line.strip() == anchor)
            path.write_text("".join([*lines[:place], code, *lines[place:]]))
        elif is_end:
            path.write_text(f"{path.read_text()}\n\n{code}")
        else:
            copy.write(file, code.replace("HEAD", newest_revision()))
    return {name.replace("\\", "") for name, *_ in steps}


def test_the_noun_of_the_recipe_touches_few_files_and_is_part_of_the_api(copy: Copy) -> None:
    touched = apply_example(copy)
    assert len(touched) <= MAX_FILES
    # The recipe names the folder of migrations, because their numbers differ.
    unnamed = {path for path in touched if Path(path).name not in recipe("Add an API noun with its page")}
    assert unnamed == {"alembic/versions/9999_labels.py"}
    paths = json.loads(copy.run(sys.executable, "-m", "arcadia_backend.openapi"))["paths"]
    assert set(paths["/api/v1/labels"]) == {"get", "post"}
    assert set(paths["/api/v1/labels/{label_id}"]) == {"delete"}


@pytest.mark.nightly  # A pytest and the TypeScript compiler take half a minute. The test above checks all files.
def test_the_tests_of_the_noun_of_the_recipe_pass(copy: Copy) -> None:
    apply_example(copy)
    assert " passed" in copy.run_tests("tests/backend/test_labels.py", "tests/contract/test_backend_order.py")
    copy.write(".setup/openapi.json", copy.run(sys.executable, "-m", "arcadia_backend.openapi"))
    for script in ("types", "typecheck"):
        copy.run("npm", "--prefix", "frontend", "run", script)
    # Not prettier, whose lines are longer in the frontend than in documents.
    copy.run("npm", "--prefix", "frontend", "exec", "--", "eslint", "--max-warnings", "0", "frontend/src/pages/labels")
    assert "1 passed" in copy.run("npm", "--prefix", "frontend", "test", "--", "src/pages/labels")
